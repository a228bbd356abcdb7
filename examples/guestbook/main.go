// Command guestbook is an operator for guestbooks. It has all the code that such an operator needs.
package main

import "github.com/operkit/operkit/operator/full"

func main() {
	op := full.New("guestbook-operator")
	op.Control(Guestbook{})
	op.Main()
}
