package ruletest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/warning"
)

// Create returns the verdict on the creation of an object: an Unstructured, a map or a typed object with apiVersion and
// kind. It returns an error if the object isn't one of the definition's kind, in a version that is served.
func (d *Definition) Create(object any) (Verdict, error) {
	request, err := d.create(object)
	return request.verdict, err
}

// Update returns the verdict on an update. before is the object as it is stored, which may break rules.
func (d *Definition) Update(before, object any) (Verdict, error) {
	request, err := d.update(before, object, false)
	return request.verdict, err
}

// UpdateStatus returns the verdict on an update of the status subresource. It returns an error if the kind has none.
func (d *Definition) UpdateStatus(before, object any) (Verdict, error) {
	request, err := d.update(before, object, true)
	return request.verdict, err
}

// evaluated is a request that was evaluated, with the objects as the API server would store them.
type evaluated struct {
	object, before *unstructured.Unstructured
	verdict        Verdict
}

// create evaluates a creation.
func (d *Definition) create(object any) (evaluated, error) {
	created, v, unknown, err := d.read(object)
	if err != nil {
		return evaluated{}, err
	}
	asStored(created, nil, d.namespaced)
	verdict := v.judge(created, nil, unknown, func(ctx context.Context) field.ErrorList {
		v.strategy.PrepareForCreate(ctx, created)
		return v.strategy.Validate(ctx, created)
	})
	return evaluated{created, nil, verdict}, nil
}

// update evaluates an update of an object, or of its status.
func (d *Definition) update(before, object any, status bool) (evaluated, error) {
	old, v, _, err := d.read(before)
	if err != nil {
		return evaluated{}, fmt.Errorf("object before the update: %w", err)
	}
	updated, _, unknown, err := d.read(object)
	if err != nil {
		return evaluated{}, err
	}
	if old.GetAPIVersion() != updated.GetAPIVersion() {
		return evaluated{}, fmt.Errorf("objects of two versions, %s and %s: pass both in the same version", old.GetAPIVersion(), updated.GetAPIVersion())
	}
	var strategy updating = v.strategy
	if status {
		if strategy = v.status; strategy == nil {
			return evaluated{}, fmt.Errorf("kind %s: its status is no subresource: use Update", d.kind)
		}
	}
	asStored(updated, old, d.namespaced)
	verdict := v.judge(updated, old, unknown, func(ctx context.Context) field.ErrorList {
		strategy.PrepareForUpdate(ctx, updated, old)
		return strategy.ValidateUpdate(ctx, updated, old)
	})
	return evaluated{updated, old, verdict}, nil
}

// read returns an object in the form in which the API server reads it, its version, and warnings about unknown fields.
func (d *Definition) read(object any) (*unstructured.Unstructured, *servedVersion, []string, error) {
	content, err := unstructuredOf(object)
	if err != nil {
		return nil, nil, nil, err
	}
	kind := content.GroupVersionKind()
	v := d.versions[kind.Version]
	switch {
	case kind.GroupKind() != d.kind:
		return nil, nil, nil, fmt.Errorf("object %s of kind %s: the definition is about %s", content.GetName(), kind.GroupKind(), d.kind)
	case v == nil || !v.served:
		return nil, nil, nil, fmt.Errorf("object %s of version %s: the definition serves %s", content.GetName(), kind.Version, strings.Join(d.served(), ", "))
	}
	unknown, err := v.read(content)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("object %s: %w", content.GetName(), err)
	}
	return content, v, unknown, nil
}

// served returns the names of the versions that are served.
func (d *Definition) served() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(d.versions)) {
		if d.versions[name].served {
			names = append(names, name)
		}
	}
	return names
}

// recorder collects warnings.
type recorder struct{ texts []string }

// AddWarning implements warning.Recorder.
func (r *recorder) AddWarning(_, text string) { r.texts = append(r.texts, text) }

// judge returns the verdict of a strategy about an object, with warnings and those that reading it gave.
func (v *servedVersion) judge(object, before *unstructured.Unstructured, unknown []string, validate func(context.Context) field.ErrorList) Verdict {
	warnings := &recorder{texts: unknown}
	found := validate(warning.WithWarningRecorder(unbounded(), warnings))
	verdict := Verdict{Accepted: len(found) == 0, Warnings: warnings.texts}
	if slices.ContainsFunc(found, isBlocked) {
		verdict.Invalid = found
		return verdict
	}
	content := map[string]any(nil)
	if before != nil {
		content = before.Object
	}
	var causes map[string][]*rule.Rule
	causes, verdict.Cost = v.causes(object.Object, content)
	for _, one := range found {
		text := one.Error()
		rules, known := causes[text]
		if !known && !isFailure(one) {
			verdict.Invalid = append(verdict.Invalid, one)
			continue
		}
		b := Broken{Field: fieldOf(one), Message: one.Detail, Reason: string(one.Type), Text: text, Failed: isFailure(one)}
		if len(rules) > 0 {
			b.Rule, causes[text] = rules[0], rules[1:]
		}
		verdict.Broken = append(verdict.Broken, b)
	}
	return verdict
}

// isBlocked reports whether an error says that no rules were checked.
func isBlocked(err *field.Error) bool {
	return strings.HasPrefix(err.Detail, "some validation rules were not checked")
}

// causes evaluates each rule alone. It returns, for each text of an error, the rules that have it, and the cost of all.
func (v *servedVersion) causes(object, before map[string]any) (map[string][]*rule.Rule, int64) {
	causes, total := map[string][]*rule.Rule{}, int64(0)
	for _, one := range v.alone {
		errs, cost := evaluate(one.validator, one.structural, object, before)
		total = min(total+cost, Budget)
		for _, err := range errs {
			causes[err.Error()] = append(causes[err.Error()], one.rule)
		}
	}
	return causes, total
}

// fieldOf returns the field of an error, empty for the whole object.
func fieldOf(err *field.Error) string {
	if err.Field == "<nil>" {
		return ""
	}
	return err.Field
}

// isFailure reports whether an error is about a rule that can't be evaluated.
func isFailure(err *field.Error) bool {
	for _, part := range []string{" evaluating rule: ", "call arguments did not match a supported operator", "no further validation rules will be run"} {
		if strings.Contains(err.Detail, part) {
			return true
		}
	}
	return false
}
