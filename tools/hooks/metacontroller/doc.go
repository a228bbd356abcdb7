// Package metacontroller runs controllers that are defined for metacontroller, in an operator of your own: a program in
// any language returns the children and the status of a parent, and this package applies them.
//
//	var controllers metacontroller.Controllers
//	if err := controllers.ReadFiles("controllers"); err != nil {
//		return err
//	}
//	op.DriveKinds(controllers.Selector(), controllers.Reconciler, "patch")
//	op.DriveKinds(metacontroller.Definitions(), controllers.Definition) // those that are objects of the cluster, too
//
// The README of the module says what the author of a hook notices, what isn't supported yet, and what a hook can't do.
package metacontroller
