// Package metacontroller runs controllers that are defined for metacontroller, in an operator of your own: a program in
// any language returns the children and the status of a parent, and this package applies them.
//
//	controllers, err := metacontroller.ReadFiles("controllers")
//	if err != nil {
//		return err
//	}
//	op.DriveKinds(kinds.Selector{Version: "*", Where: controllers.Has}, controllers.Reconciler, "patch")
//
// The README of the module says what the author of a hook notices, what isn't supported yet, and what a hook can't do.
package metacontroller
