// Package manifest writes rendered components for people to read: as a stream of YAML documents, or into files below a
// directory.
//
//	directory, err := manifest.Open("/var/lib/shop-operator/rendered")
//	defer directory.Close()
//	reconciler, err := reconcile.New(Shop{}, manager, reconcile.ObserveComponents(directory.Observe))
//
// From then on the directory has the latest rendering of each resource, a file for each component:
//
//	<directory>/<group>.<version>.<kind>/<namespace>/<name>/<component>/<name>-<component>.k8s.yaml
//
// A cluster-scoped resource has no namespace folder. Disabled components are below <name>/DISABLED/ if the option
// Disabled is set. Characters with a meaning in paths are written as %2F and the like, and very long names are cut and
// end in a hash. So no name leads out of the directory, and different names never have the same path.
//
// # Secrets
//
// The values of Secrets are masked unless the option ShowSecrets is set: keys stay, and each value is replaced by the
// same text, whatever its length. An API server accepts a masked Secret, so don't apply one: the mask would be the
// password. Values elsewhere, such as in the environment of a container, aren't masked.
//
// # Files
//
// A file is replaced as a whole or not at all, and only if its content changes. It has the mode 0600, its folders 0700.
// Files of components that a resource doesn't have any more are removed; all other files stay.
//
// # When to use it
//
// Use it to find out what an operator does, and to compare releases. Don't use it as a backup: it has neither the
// fields that the cluster adds nor the values of Secrets.
package manifest
