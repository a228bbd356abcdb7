// Package full is package operator with everything on: traces of OpenTelemetry, events of each real change, and versions of an operator side by
// side, as programs or as files.
//
//	func main() {
//		op := full.New("guestbook-operator")
//		op.Control(Guestbook{})
//		op.Main()
//	}
//
// # When to use it
//
// Use it unless the size of the binary matters: it links what package operator leaves out, some ten megabytes. What it adds is off until
// the environment or a setting asks for it, or can be switched off.
package full
