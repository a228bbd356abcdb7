package selection

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Filter limits the objects for which a handler is called. The zero value passes every object.
type Filter struct {
	// Labels and Annotations are checks by key.
	Labels, Annotations map[string]Check
	// Field is the path of the field that the handler is about, empty for the whole object. Without Value, Old and New
	// the field has to be present. For updates it has to change, and it may have been present before.
	Field []string
	// Value checks the field; for updates it passes if the old or the new value passes. Old and New check both values
	// of an update.
	Value, Old, New Check
	// Parent is the kind of an object that owns the object, see ParentOf; empty for any or none.
	Parent schema.GroupKind
	// When is called last, with the whole object, which it must not change.
	When func(object map[string]any) bool
}

// Validate returns an error for a filter that can't be used for On.
func (f Filter) Validate(on On) error {
	var errs []error
	if slices.Contains(f.Field, "") {
		errs = append(errs, fmt.Errorf("field %q: use names with dots between them, such as spec.size", strings.Join(f.Field, ".")))
	}
	if len(f.Field) == 0 && (f.Value != nil || f.Old != nil || f.New != nil) {
		errs = append(errs, errors.New("a value is checked, but no field is named: name it by InField"))
	}
	if f.Value != nil && (f.Old != nil || f.New != nil) {
		errs = append(errs, errors.New("both Value and Before or After are set: use Value, or Before and After"))
	}
	if (f.Old != nil || f.New != nil) && on&^(Update|Field) != 0 {
		errs = append(errs, errors.New("only handlers of updates have an old and a new value: use Value"))
	}
	if f.Parent.Kind == "" && f.Parent.Group != "" {
		errs = append(errs, fmt.Errorf("parent of the group %q: names no kind: use one such as Deployment", f.Parent.Group))
	}
	return errors.Join(append(errs, validateKeys("label", f.Labels), validateKeys("annotation", f.Annotations))...)
}

// validateKeys returns an error for checks of labels or annotations that can't be on an object, sorted by key.
func validateKeys(what string, checks map[string]Check) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(checks)) {
		if checks[key] == nil {
			errs = append(errs, fmt.Errorf("%s %s: nil check: use Absent for objects without it", what, key))
		}
		form := key
		if what == "annotation" {
			form = strings.ToLower(key) // the API server accepts more annotations than labels
		}
		if faults := validation.IsQualifiedName(form); len(faults) > 0 {
			errs = append(errs, fmt.Errorf("%s %q: the key isn't valid: use one such as tier or example.dev/tier", what, key))
		}
	}
	return errors.Join(errs...)
}

// sees reports whether the object passes, whether or not it has changed. updates: the handler is one for updates, which
// may be about a value that was there before.
func (f Filter) sees(o Object, updates bool) bool {
	metadata, _ := o.Body["metadata"].(map[string]any)
	return passes(metadata["labels"], f.Labels) && passes(metadata["annotations"], f.Annotations) &&
		f.seesField(o, updates && o.Reason == cause.Update) && f.seesParent(o) && (f.When == nil || o.Unreadable || f.When(o.Body))
}

func passes(values any, checks map[string]Check) bool {
	content, _ := values.(map[string]any)
	for key, check := range checks {
		if !check(content[key]) {
			return false
		}
	}
	return true
}

// seesField checks the field. update: its old value counts, too.
func (f Filter) seesField(o Object, update bool) bool {
	if len(f.Field) == 0 || f.Old != nil || f.New != nil {
		return true // changes checks the values of an update
	}
	check := f.Value
	if check == nil {
		check = Present
	}
	present := diff.At(o.Body, f.Field)
	if check(present) || update && check(diff.At(o.Old, f.Field)) {
		return true
	}
	changed, known := o.changed(f.Field)
	return update && f.Value == nil && present == nil && changed && known // it was there
}

func (f Filter) seesParent(o Object) bool {
	if f.Parent.Kind == "" {
		return true
	}
	_, ok := ParentOf(o.Body, f.Parent)
	return ok
}

// changed is Changed, which may be nil.
func (o Object) changed(path []string) (changed, known bool) {
	if o.Changed == nil {
		return false, false
	}
	return o.Changed(path)
}

// changes reports whether an update changes the field in the way that the handler waits for.
func (f Filter) changes(o Object) bool {
	if len(f.Field) == 0 {
		return true
	}
	before, after := diff.At(o.Old, f.Field), diff.At(o.New, f.Field)
	changed, known := o.changed(f.Field)
	if !known {
		changed = len(diff.Of(before, after)) > 0
	}
	return changed && (f.Old == nil || f.Old(before)) && (f.New == nil || f.New(after))
}
