// Package filter holds predicates that decide which events of an object cause a reconcile of the object or of its
// owner. A [Predicate] is a pure function of one event: the object before and after it. A predicate keeps no state. If
// a filter refuses the event of a change, the change isn't lost: the next reconcile of the object sees it.
//
// # Results of predicates
//
// Predicates of changes ([Generation], [Content], [Annotations], [UserAnnotations], [LabelsChanged], [Finalizers],
// [ReadyReason], [Condition], [Field], [Leasing]) are true for an update that made that change and for nothing else.
// Predicates of state ([Labels], [Paused], [WithoutGeneration]) look at the object after the event. [Created],
// [Replaced], [Deletion] and [Lifecycle] are about its creation and deletion. [And], [Or] and [Not] combine predicates
// as in logic. [Ignoring] hides the annotations from a predicate that the reconciler writes itself.
//
// An object that exists when an operator starts causes an event of the type Added. A filter of changes alone, such as
// Generation(), refuses these events, and may refuse the beginning of a deletion. So combine it by Or with [Lifecycle],
// or use [Standard].
//
// A filter on the state of an object may refuse events for a while. When the state changes so that the filter passes
// events again, the changes made in between must be reconciled. [While] and [UnlessPaused] ensure that.
//
// If an object leaves the view (deploy.Left), the object itself hasn't changed: no predicate of changes, of creation or
// of deletion is true for such an event, and engines don't call predicates for it.
//
// No predicate panics: not for an event without objects, nor for an object without labels or with invalid metadata. An
// update without the object before it counts as a creation. Predicates change nothing and are safe for concurrent use.
//
// # Names in oper8
//
// oper8's filters keep state for each object, and may return no result for an event. Here every predicate returns true
// or false, and it returns false where oper8 returns no result (except [ResourceVersion], which is false for repeated
// events only):
//
//	CreationDeletion  Lifecycle()
//	Generation        Generation()
//	NoGeneration      And(WithoutGeneration(), Content())
//	ResourceVersion   ResourceVersion()
//	Annotation        Annotations()
//	UserAnnotation    UserAnnotations()
//	Pause             UnlessPaused(domain, ...) around the others
//	SubsystemStatus   ReadyReason()
//	DependentWatch    Not(Created())
//	Label             Labels(selector), or While(Labels(selector), ...) around the others
//	Enable, Disable   Always(), Never()
//	a list, a tuple   And(...), Or(...); a list of predicates of changes is Or(...)
//
// Its configured sets have the same names, see [Named]:
//
//	default          UnlessPaused(domain, Or(Lifecycle(), Generation(), And(WithoutGeneration(), Content())))
//	annotation       Or(default, Annotations())
//	user-annotation  Or(default, UserAnnotations())
//
// Unlike oper8's sets, these sets pass the deletion of a paused object, and the beginning and the end of a pause, so
// that the status can show the pause. They don't contain ResourceVersion: if an event repeats a resourceVersion,
// nothing has changed, so the predicates of changes refuse it anyway.
//
// # When to use it
//
// Use it in source.Sources if the engine's default filter passes too many or too few events. Don't use it to prevent
// reconciles of an object: a retry, a timer or another event still causes a reconcile. Check in the reconcile instead.
package filter
