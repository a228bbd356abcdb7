// Package full is package operator with everything on: OpenTelemetry traces, Kubernetes events of each change, and
// several versions of an operator at once, as programs or as files.
//
//	func main() {
//		op := full.New("guestbook-operator")
//		op.Control(Guestbook{})
//		op.Main()
//	}
//
// # When to use it
//
// Use it unless the size of the binary matters: it links about ten megabytes more than package operator. What it adds
// is off until the environment or a setting turns it on, or can be turned off.
package full
