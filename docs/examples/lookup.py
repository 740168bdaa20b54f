"""How long does a look-up take among N keys? python3 lookup.py list|dict N"""
import random
import sys
import time

kind, size = sys.argv[1], int(sys.argv[2])
keys = list(range(size)) if kind == "list" else dict.fromkeys(range(size))
wanted = [random.randrange(size) for _ in range(200)]
start = time.perf_counter_ns()
for key in wanted:
    key in keys
print((time.perf_counter_ns() - start) / len(wanted), "ns")
