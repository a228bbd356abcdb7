// Command guestbook is an operator for guestbooks: the whole of what one has to write.
package main

import "github.com/operkit/operkit/operator/full"

func main() {
	op := full.New("guestbook-operator")
	op.Control(Guestbook{})
	op.Main()
}
