// Package labels makes the labels that Kubernetes recommends, app.kubernetes.io/name and others, and apart from them
// the labels by which selectors find Pods.
//
//	l := labels.Of(s, "web")
//	l.Selector() // name, instance and component: for selectors and Pod templates
//	l.All()      // these and part-of, managed-by and version: for the metadata of objects
//
// The selector of a workload can't be changed. So it has nothing that changes: no version, and nothing that a user
// writes. [Labels.With] adds the labels of a user to those of the metadata, and refuses the six labels of this package
// and those of the operator.
//
// A Pod template needs the labels of its selector. Whatever else its labels have restarts the Pods when it changes.
// With All, each new version of the operator restarts them.
//
// Values are valid label values: a name that is too long, or has other characters, is shortened, and ends in digits of
// a hash of the whole name ([Value]).
package labels
