// Package operator makes a whole operator of controllers: it finds the cluster, runs the
// engine, and gives the binary its commands.
//
//	func main() {
//		op := operator.New("guestbook-operator")
//		op.Control(Guestbook{})
//		op.Main()
//	}
//
// It only wires the other modules together. Whoever wants something else than it does uses
// them directly: reconcile for controllers, reconcile/watch for the engine, deploy/cluster
// for the API server.
package operator
