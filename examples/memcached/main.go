// Command memcached is an operator for memcacheds, the classic first example of an operator. Each has one Deployment.
package main

import "github.com/operkit/operkit/operator/full"

func main() {
	op := full.New("memcached-operator")
	op.Control(Memcached{})
	op.Main()
}
