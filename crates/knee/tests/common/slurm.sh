# Three nodes of Slurm on one machine, each in a network namespace and with a host name of its own, and a command on the
# machine of the controller. All of it ends with the command: it is started by `unshare --net --uts --pid --fork --kill-child
# --mount-proc`.
#
# slurm.sh DIRECTORY COMMAND
set -u
directory=$1
shift
hostname controller
ip link set lo up
echo 1 >/proc/sys/net/ipv4/ip_forward
mkdir -p "$directory/munge" "$directory/state"
chmod 755 "$directory" "$directory/munge"
head -c 128 /dev/urandom >"$directory/key"
chmod 600 "$directory/key"
munged --force --key-file="$directory/key" --socket="$directory/munge/socket" --pid-file="$directory/munge/pid" \
    --log-file="$directory/munge/log" --seed-file="$directory/munge/seed" 2>>"$directory/log"
export SLURM_CONF="$directory/slurm.conf"
cat >"$SLURM_CONF" <<END
ClusterName=red
SlurmctldHost=controller(10.77.0.1)
AuthType=auth/munge
AuthInfo=socket=$directory/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
MpiDefault=none
ReturnToService=2
StateSaveLocation=$directory/state
SlurmctldPidFile=$directory/controller.pid
SlurmctldLogFile=$directory/log
SlurmdSpoolDir=$directory/%n
SlurmdPidFile=$directory/%n.pid
SlurmdLogFile=$directory/%n.log
PartitionName=all Nodes=ALL Default=YES State=UP
END
for n in 0 1 2; do
    echo "NodeName=node$n NodeAddr=10.77.$n.2 CPUs=1 State=UNKNOWN" >>"$SLURM_CONF"
done
for n in 0 1 2; do
    unshare --net --uts sh -c "hostname node$n
        ip link set lo up
        until ip link show eth0 >/dev/null 2>&1; do sleep 0.02; done
        ip address add 10.77.$n.2/24 dev eth0
        ip link set eth0 up
        ip route add default via 10.77.$n.1
        exec slurmd -D -N node$n" >>"$directory/log" 2>&1 &
    # Its end of the cable goes where it is, once it is there.
    until [ "$(readlink /proc/$!/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.02; done
    ip link add "cable$n" type veth peer name eth0 netns $!
    ip address add "10.77.$n.1/24" dev "cable$n"
    ip link set "cable$n" up
done
slurmctld -D >>"$directory/log" 2>&1 &
tries=0
until [ "$(sinfo --noheader --format=%D --states=idle 2>/dev/null)" = 3 ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || { cat "$directory"/*log >&2; exit 99; }
    sleep 0.1
done
exec "$@"
