// Package operator makes a whole operator from controllers: it finds the cluster, runs the engine, and gives the
// program its commands.
//
//	func main() {
//		op := operator.New("guestbook-operator")
//		op.Control(Guestbook{})
//		op.Main()
//	}
//
// It only connects the other modules. For a program of another structure use them directly: reconcile for controllers,
// reconcile/watch for the engine, deploy/cluster for the API server.
package operator
