// Package filter tells which events of an object count: those that bring it, or its owner, to reconcile. A [Predicate]
// is a pure function of one event, the object before and after it. None has state, so that nothing can be out of step
// with what was reconciled: what one event shows and a filter refuses is in the object still when the next one passes.
//
// # What a predicate says
//
// Those of changes ([Generation], [Content], [Annotations], [UserAnnotations], [LabelsChanged], [Finalizers],
// [ReadyReason], [Field], [Leasing]) are true for an update that made that change and for nothing else; those of what an object is
// ([Labels], [Paused], [WithoutGeneration]) look at it as the event leaves it; [Created], [Replaced], [Deletion]
// and [Lifecycle] are about its coming and going. [And], [Or] and [Not] join them as in logic.
//
// Objects that exist when an operator starts are events of the type Added. A filter of changes alone, such as
// Generation(), refuses those, and it may refuse the beginning of a deletion: begin with [Standard], or with [Lifecycle]
// in an Or.
//
// A filter that looks at what an object is closes and opens: what changed while it was closed has to be looked at when
// it opens. [While] and [UnlessPaused] see to that.
//
// That an object left the view (deploy.Left) is a matter of who watches, and none of its own: no predicate of changes, of
// coming or of going counts it, and no engine asks one about it.
//
// Each predicate is total: an event without objects, an object without labels or with metadata that makes no sense is
// answered and doesn't panic. An update that doesn't say what was before counts as a creation. Nothing is changed, and
// all are safe for concurrent use.
//
// # Names in oper8
//
// oper8's filters keep state for each object, and may have no opinion about an event, which is left out of what they
// are joined to. Here every predicate has one, and where oper8 has none it is "no" (save for
// [ResourceVersion], which only ever refuses repetitions):
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
//	a list, a tuple   And(...), Or(...); of changes, a list means Or(...)
//
// Its configured sets are to be had by name, see [Named]:
//
//	default          UnlessPaused(domain, Or(Lifecycle(), Generation(), And(WithoutGeneration(), Content())))
//	annotation       Or(default, Annotations())
//	user-annotation  Or(default, UserAnnotations())
//
// Unlike oper8's they let pass the deletion of what is paused, and the beginning and the end of a pause, so that it
// can be shown. ResourceVersion isn't in them: a repetition changes nothing that they look at.
//
// # When to use it
//
// Use it in source.Sources, where what the engine does by itself brings too much or too little. Don't
// use it to leave out objects that a reconcile must not touch: a retry, a timer or another event brings them all the
// same, so the reconcile has to look itself.
package filter
