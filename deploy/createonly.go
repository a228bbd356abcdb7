package deploy

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// generatedLabel marks what was made of a manifest with generateName, so that it is found again.
func (s settings) generatedLabel() string { return s.domain + "/generated-from" }

// generatedFrom is the label's value: it stands for the manifest's name, its owner and this manager.
func (s settings) generatedFrom(ref Ref, generateName string) string {
	owner := ""
	if s.owner != nil {
		owner = string(s.owner.GetUID())
	}
	return hashString(fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%s", ref.Kind.GroupKind(), ref.Namespace, generateName, owner, s.fieldManager))
}

// markGenerated puts the label on an object that is to be made with generateName.
func (s settings) markGenerated(obj *unstructured.Unstructured, ref Ref) error {
	marks, err := stringLabels(obj, ref)
	if err != nil {
		return err
	}
	marks[s.generatedLabel()] = s.generatedFrom(ref, obj.GetGenerateName())
	obj.SetLabels(marks)
	return nil
}

// MadeFrom reports whether this manager created live from a manifest that has a generateName in place of a name
// (CreateOnly), for the owner of options.
func (m *Manager) MadeFrom(live, manifest *unstructured.Unstructured, options ...Option) bool {
	s, err := m.settings.forCall(options)
	if err != nil || live == nil || manifest == nil || manifest.GetName() != "" || manifest.GetGenerateName() == "" {
		return false
	}
	ref := RefOf(live)
	return kindOf(manifest).GroupKind() == ref.Kind.GroupKind() &&
		live.GetLabels()[s.generatedLabel()] == s.generatedFrom(ref, manifest.GetGenerateName())
}

// createOnly makes an object if it is absent, and leaves it alone if it is there.
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

// make sends the creation. A name that the cluster makes up is another one each time: where the answer was
// lost, what was made is looked for before it is tried again.
func (t *task) make(ctx context.Context) (*unstructured.Unstructured, error) {
	options := CreateOptions{FieldManager: t.fieldManager, DryRun: t.dryRun}
	if t.in.ref.Name != "" || t.dryRun {
		return t.port.Create(ctx, t.in.object, options)
	}
	once := t.port
	once.retryFor = 0
	asked := false
	return retry(ctx, t.retryFor, func() (*unstructured.Unstructured, error) {
		if asked {
			found, err := once.List(ctx, t.in.ref.Kind, t.in.ref.Namespace, ListOptions{Labels: t.generatedSelector()})
			if err != nil || len(found) > 0 {
				return standing(found), err
			}
		}
		asked = true
		return once.Create(ctx, t.in.object, options)
	})
}

// standing returns the first that isn't being deleted, else the first; nil: there is none.
func standing(objects []*unstructured.Unstructured) *unstructured.Unstructured {
	for _, obj := range objects {
		if obj.GetDeletionTimestamp() == nil {
			return obj
		}
	}
	if len(objects) == 0 {
		return nil
	}
	return objects[0]
}

// generatedSelector finds what was made of the manifest.
func (t *task) generatedSelector() labels.Selector {
	return labels.SelectorFromSet(labels.Set{t.generatedLabel(): t.in.object.GetLabels()[t.generatedLabel()]})
}

// created looks for what was made of the manifest before, by its name or by its label.
func (t *task) created(ctx context.Context) (*unstructured.Unstructured, error) {
	if t.in.ref.Name != "" {
		return t.look(ctx, t.in.ref)
	}
	found, err := retry(ctx, t.retryFor, func() ([]*unstructured.Unstructured, error) {
		return t.view.List(ctx, t.in.ref.Kind, t.in.ref.Namespace, t.generatedSelector())
	})
	return standing(found), err
}

// leaveAlone is the result for an object that is there already, if it is ours to rely on and stays.
func (t *task) leaveAlone(ctx context.Context, live *unstructured.Unstructured) Result {
	ref := RefOf(live)
	if live.GetDeletionTimestamp() != nil {
		return Result{Ref: ref, Action: Skipped, Object: live, Err: &TerminatingError{Ref: ref, Finalizers: live.GetFinalizers()}}
	}
	if err := t.mayChange(ctx, t.settings, ref, live); err != nil {
		return Result{Ref: ref, Action: Conflicted, Object: live, Err: err}
	}
	return t.leave(ctx, live, Unchanged)
}
