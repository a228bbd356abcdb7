// Command memcached is an operator for memcacheds, the field's classic first one: a Deployment each.
package main

import "github.com/operkit/operkit/operator/full"

func main() {
	op := full.New("memcached-operator")
	op.Control(Memcached{})
	op.Main()
}
