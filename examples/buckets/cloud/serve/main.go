// Command serve runs a small cloud in memory, to try the operator of buckets.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"

	"github.com/operkit/operkit/examples/buckets/cloud"
)

func main() {
	address := flag.String("address", "127.0.0.1:9000", "where it listens")
	flag.Parse()
	fmt.Println("the cloud is at http://" + *address)
	if err := http.ListenAndServe(*address, cloud.New()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
