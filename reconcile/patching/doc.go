// Package patching changes the objects of a resource just before they are applied: a Patcher finds the patches of the
// resource, and each Patch changes the objects that it is for. Package temporarypatch has the Patcher of
// TemporaryPatches.
//
// # When to use it
//
// Use it in a reconciler of your own, whatever its style, so that people can change what it applies for a while:
//
//	target := patching.Target{Resource: parent, View: env.Manager.View(), Logger: env.Logger}
//	children, err = patching.Objects(ctx, env.Patches(), target, "children", children)
//
// A reconciler that applies no objects, such as one of handlers with effects outside of the cluster, has nothing to
// patch. A *reconcile.Reconciler patches its objects by itself (reconcile.WithPatches).
package patching
