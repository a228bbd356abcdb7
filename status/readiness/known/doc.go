// Package known has rules for well-known kinds of others: when is a Certificate of cert-manager ready, or a Cluster of
// CloudNativePG? Without a rule, an object that its controller hasn't handled yet has no conditions, and so counts as
// Ready; what waits for it starts too early.
//
//	checker := readiness.Checker{Registry: known.Kinds()}
//	result := checker.Of(certificate) // InProgress: the condition Ready isn't set yet: cert-manager hasn't handled ...
//
// Kinds has the rules that need nothing but a name. Managed has the rule of Crossplane for kinds that the caller names.
// Conditions has a general rule for kinds that the caller passes in as CustomResourceDefinitions.
//
// The checks for all kinds come before these rules: an object that is being deleted is Terminating, one whose
// status.observedGeneration isn't its generation is InProgress, a True Stalled means Failed, a True Reconciling
// InProgress. A condition with an observedGeneration decides only if that is the generation of the object. A condition
// that is False because of an error is Failed; if it is False because another object isn't there yet, the object is
// InProgress, as the other one may be on its way.
//
// The rules read what the controller of the kind has written. They can't tell that such a controller doesn't run: an
// object that nobody handles stays InProgress. In a program with package reconcile:
//
//	reconcile.ReadyBy(readiness.Checker{Registry: known.Kinds()})
//
// Package operator has this option by default.
package known
