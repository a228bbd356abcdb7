package deploy

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// generatedLabel is the label on objects that were created from a manifest with generateName, to find them again.
func (s settings) generatedLabel() string { return s.domain + "/generated-from" }

// generatedFrom returns the value of generatedLabel: a digest of the kind, namespace and generateName of the manifest,
// the owner, and the field manager.
func (s settings) generatedFrom(ref Ref, generateName string) string {
	owner := ""
	if s.owner != nil {
		owner = string(s.owner.GetUID())
	}
	return hashString(fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%s", ref.Kind.GroupKind(), ref.Namespace, generateName, owner, s.fieldManager))
}

// markGenerated adds the label to an object that is to be created with generateName.
func (s settings) markGenerated(obj *unstructured.Unstructured, ref Ref) error {
	marks, err := metadataTexts(obj, ref, "labels")
	if err != nil {
		return err
	}
	marks[s.generatedLabel()] = s.generatedFrom(ref, obj.GetGenerateName())
	obj.SetLabels(marks)
	return nil
}

// MadeFrom reports whether this manager created live from manifest, which has a generateName instead of a name
// (CreateOnly), for the same owner as in options.
func (m *Manager) MadeFrom(live, manifest *unstructured.Unstructured, options ...Option) bool {
	s, err := m.settings.forCall(options)
	if err != nil || live == nil || manifest == nil || manifest.GetName() != "" || manifest.GetGenerateName() == "" {
		return false
	}
	ref := RefOf(live)
	return kindOf(manifest).GroupKind() == ref.Kind.GroupKind() &&
		live.GetLabels()[s.generatedLabel()] == s.generatedFrom(ref, manifest.GetGenerateName())
}

// createOnly creates an object if it is absent, and otherwise leaves it alone.
func (t *task) createOnly(ctx context.Context) Result {
	live, err := t.created(ctx)
	switch {
	case err != nil:
		return failure(t.in.ref, err)
	case live != nil:
		return t.leaveAlone(ctx, live)
	}
	made, err := t.make(ctx)
	if is[*AlreadyExistsError](err) {
		current, failed := t.current(ctx)
		if current != nil {
			return t.leaveAlone(ctx, current)
		}
		if failed != nil {
			err = failed
		}
	}
	if err != nil {
		return failure(t.in.ref, err)
	}
	return Result{Ref: RefOf(made), Action: Created, Object: made}
}

// make sends the create request. After a failure, make looks for the object before it sends the request again. The
// response to the first request may have been lost, and the second request would create another object with another
// name.
func (t *task) make(ctx context.Context) (*unstructured.Unstructured, error) {
	options := CreateOptions{FieldManager: t.fieldManager, DryRun: t.dryRun}
	if t.in.ref.Name != "" || t.dryRun {
		return t.port.Create(ctx, t.in.object, options)
	}
	made := labels.SelectorFromSet(labels.Set{t.generatedLabel(): t.in.object.GetLabels()[t.generatedLabel()]})
	once := t.port
	once.retryFor = 0
	asked := false
	return retry(ctx, t.retryFor, func() (*unstructured.Unstructured, error) {
		if asked {
			found, err := once.List(ctx, t.in.ref.Kind, t.in.ref.Namespace, ListOptions{Labels: made})
			if err != nil || len(found) > 0 {
				return standing(found), err
			}
		}
		asked = true
		return once.Create(ctx, t.in.object, options)
	})
}

// standing returns the first object that isn't being deleted. If all are being deleted, it returns the first one.
// Without objects it returns nil.
func standing(objects []*unstructured.Unstructured) *unstructured.Unstructured {
	if len(objects) == 0 {
		return nil
	}
	isStanding := func(obj *unstructured.Unstructured) bool { return obj.GetDeletionTimestamp() == nil }
	return objects[max(slices.IndexFunc(objects, isStanding), 0)]
}

// generated returns the object in the View that was created from a manifest with generateName, nil if there is none.
// from is the value of generatedLabel.
func (m *Manager) generated(ctx context.Context, s settings, ref Ref, from string) (*unstructured.Unstructured, error) {
	found, err := retry(ctx, s.retryFor, func() ([]*unstructured.Unstructured, error) {
		return m.view.List(ctx, ref.Kind, ref.Namespace, labels.SelectorFromSet(labels.Set{s.generatedLabel(): from}))
	})
	return standing(found), err
}

// created looks for the object that was created from the manifest, by its name or by its label.
func (t *task) created(ctx context.Context) (*unstructured.Unstructured, error) {
	if t.in.ref.Name != "" {
		return t.look(ctx, t.in.ref)
	}
	return t.generated(ctx, t.settings, t.in.ref, t.in.object.GetLabels()[t.generatedLabel()])
}

// leaveAlone returns the result for an object that exists. The result has an error if the object isn't ours or is being
// deleted.
func (t *task) leaveAlone(ctx context.Context, live *unstructured.Unstructured) Result {
	if result, barred := t.barred(ctx, live); barred {
		return result
	}
	return t.leave(ctx, live, Unchanged)
}
