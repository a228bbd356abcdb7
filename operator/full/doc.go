// Package full is package operator with all extensions: OpenTelemetry traces, Kubernetes events of each change, and
// several versions of an operator at once, either as child processes or as files of a git repository.
//
//	func main() {
//		op := full.New("guestbook-operator")
//		op.Control(Guestbook{})
//		op.Main()
//	}
//
// # When to use it
//
// Use it unless the size of the binary matters: a stripped binary is about seven megabytes larger than with package
// operator. Some of what it adds is off until the environment or a setting turns it on; the rest is on, and can be
// turned off.
package full
