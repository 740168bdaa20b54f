// Go's net/http as it comes: go build server.go; ./server PORT [CERT KEY]
package main

import (
	"io"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello\n") })
	address := "127.0.0.1:" + os.Args[1]
	if len(os.Args) > 2 {
		http.ListenAndServeTLS(address, os.Args[2], os.Args[3], nil)
	}
	http.ListenAndServe(address, nil)
}
