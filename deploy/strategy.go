package deploy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Strategy says what happens to an existing object that differs from its manifest.
type Strategy string

// The strategies.
const (
	// ServerSideApply sends the intent by server-side apply. It is the default.
	ServerSideApply Strategy = "Apply"
	// CreateOnly creates the object if it is absent. It doesn't change an existing object, except that it replaces a
	// former owner in the metadata (see OwnerKinds). If the object is being deleted,
	// the result is Skipped (*TerminatingError). Once it is gone, an Apply creates a new object. CreateOnly is the only
	// strategy for manifests with generateName. An object that was created from such a manifest is found again by a
	// label.
	CreateOnly Strategy = "CreateOnly"
	// Replace writes the whole content, with the resourceVersion that was read as the precondition. Within each
	// top-level field of the manifest, it removes all fields that the manifest omits, whoever set them. It is for kinds
	// whose objects must be written as a whole. The object is compared by value. Fields that the cluster fills in don't
	// count as differences.
	Replace Strategy = "Replace"
	// Recreate applies the object like ServerSideApply. If the cluster refuses the change of a field, or a field
	// declared by Immutable changed, the object is deleted and created again. The object is kept, and the result is
	// Failed, if the cluster wouldn't accept the new object either, or if the deletion would delete data. The deletion
	// would delete data if the object is Protected, if it owns a claim (such as a StatefulSet with
	// persistentVolumeClaimRetentionPolicy.whenDeleted: Delete), or if it is cluster-scoped and owns an object that is
	// Protected. Recreate needs permission to list objects of the Protected kinds, and ResourceQuotas if one is
	// exceeded.
	Recreate Strategy = "Recreate"
	// RecreateOrphan is like Recreate, but leaves the objects alone that the deleted object owns: the Pods of a
	// StatefulSet keep running, and the new StatefulSet adopts them and their claims.
	RecreateOrphan Strategy = "RecreateOrphan"
	// RecreateProtected is like Recreate, but deletes the object even if the deletion deletes data.
	RecreateProtected Strategy = "RecreateProtected"
	// RecreateOnChange deletes the object and creates it again when its intent has changed since this manager applied
	// it, even if the cluster would accept the change. It is for objects for which a change has no effect once they
	// run, such as Pods. Drift is repaired by an apply, and so is an object that this manager hasn't applied before.
	// Otherwise it is like Recreate, and keeps an object in the same cases.
	RecreateOnChange Strategy = "RecreateOnChange"
	// OnDelete doesn't change an existing object, except that it replaces a former owner in the metadata. The new
	// content is applied after somebody has deleted the object.
	OnDelete Strategy = "OnDelete"
	// Ignore does nothing, even if the object is absent.
	Ignore Strategy = "Ignore"
)

var strategies = []Strategy{ServerSideApply, CreateOnly, Replace, Recreate, RecreateOrphan, RecreateProtected, RecreateOnChange, OnDelete, Ignore}

var strategyNames = func() string {
	names := make([]string, len(strategies))
	for i, strategy := range strategies {
		names[i] = string(strategy)
	}
	return strings.Join(names, ", ")
}()

func (s Strategy) known() bool { return slices.Contains(strategies, s) }

// errIntentChanged is the reason why RecreateOnChange recreates an object.
var errIntentChanged = errors.New("its manifest has changed")

func (s Strategy) recreates() bool {
	return s == Recreate || s == RecreateOrphan || s == RecreateProtected || s == RecreateOnChange
}

// DefaultStrategy sets the strategy of objects without the annotation <domain>/strategy (see KeyDomain) whose kind has
// no strategy of its own (KindStrategy); default ServerSideApply.
func DefaultStrategy(strategy Strategy) Option { return func(s *settings) { s.strategy = strategy } }

// KindStrategy sets the strategy of the objects of kind that have no annotation <domain>/strategy. It adds to the
// strategies that earlier options set for other kinds. An empty strategy means the strategy of DefaultStrategy.
func KindStrategy(kind schema.GroupKind, strategy Strategy) Option {
	return func(s *settings) {
		kinds := make(map[schema.GroupKind]Strategy, len(s.kindStrategies)+1)
		maps.Copy(kinds, s.kindStrategies)
		kinds[kind] = strategy
		s.kindStrategies = kinds
	}
}

// checkStrategies returns an error if a strategy doesn't exist.
func (s settings) checkStrategies() error {
	if s.strategy != "" && !s.strategy.known() {
		return fmt.Errorf("strategy %q: unknown: use one of %s", s.strategy, strategyNames)
	}
	for kind, strategy := range s.kindStrategies {
		if strategy != "" && !strategy.known() {
			return fmt.Errorf("strategy %q for %s: unknown: use one of %s", strategy, kind, strategyNames)
		}
	}
	return nil
}

// strategyKey returns the annotation of a manifest that names its strategy.
func (s settings) strategyKey() string { return s.domain + "/strategy" }

// strategyOf returns the strategy for an object.
func (s settings) strategyOf(obj *unstructured.Unstructured, ref Ref) (Strategy, error) {
	named, annotated, _ := unstructured.NestedString(obj.Object, "metadata", "annotations", s.strategyKey())
	switch {
	case annotated && !Strategy(named).known():
		return "", &InvalidManifestError{Ref: ref, Reason: fmt.Sprintf("annotation %s: unknown strategy %q: use one of %s", s.strategyKey(), named, strategyNames)}
	case annotated:
		return Strategy(named), nil
	}
	return cmp.Or(s.kindStrategies[ref.Kind.GroupKind()], s.strategy, ServerSideApply), nil
}

// intentChanged reports whether live was applied by this manager with another intent.
func (t *task) intentChanged(live *unstructured.Unstructured) bool {
	hash := annotation(live, t.hashKey())
	return hash != "" && hash != t.in.hash
}

// Immutable declares fields of a kind that can't be changed once an object exists. Fields are paths of maps such as
// ".spec.size". With a strategy that recreates (Recreate, RecreateOrphan, RecreateProtected, RecreateOnChange) the
// object is created again when such a field gets another value, or when the intent omits a part of the field that this
// manager set. It is created again even if the cluster would accept the change. Fields that the cluster itself refuses
// to change needn't be declared.
func Immutable(kind schema.GroupKind, fields ...string) Option {
	return func(s *settings) {
		declared := s.immutable[:len(s.immutable):len(s.immutable)]
		for _, field := range fields {
			declared = append(declared, immutableField{kind, field})
		}
		s.immutable = declared
	}
}

type immutableField struct {
	kind  schema.GroupKind
	field string
}

// declaredChanges returns the fields declared by Immutable that change: wanted has a value that live doesn't have, or
// wanted omits a value that the manager owns on live.
func (s settings) declaredChanges(wanted, live *unstructured.Unstructured) []string {
	kind := wanted.GroupVersionKind().GroupKind()
	ours, _ := appliedFields(live, s.fieldManager)
	var fields []string
	for _, declared := range s.immutable {
		if declared.kind != kind {
			continue
		}
		var path []any
		owned := ours
		for name := range strings.SplitSeq(strings.TrimPrefix(declared.field, "."), ".") {
			path = append(path, name)
			owned = owned.below("f:" + name)
		}
		want, set := valueAt(wanted.Object, path)
		have, there := valueAt(live.Object, path)
		if set && !within(want, have, equality(live)) || there && ours.holds(path) && (!set || owned.exceeds(want)) {
			fields = append(fields, declared.field)
		}
	}
	return fields
}
