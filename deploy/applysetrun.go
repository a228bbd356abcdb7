package deploy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// setRun is one call for an ApplySet.
type setRun struct {
	*Manager
	settings
	set ApplySet
	id  string
	// where is the parent's name, parent what the cluster has there, nil when it is absent.
	where  Ref
	parent *unstructured.Unstructured
	port   requests
	// objects are private copies with the label of the set.
	objects []*unstructured.Unstructured
	// wanted is where objects are, known where members may be as the parent says.
	wanted, known inventory
	// founded is what became of the objects that were applied ahead of the others.
	founded map[int]Result
	// versions are those in which objects have their kinds.
	versions map[schema.GroupKind]schema.GroupVersionKind
	// members names the objects whatever their version.
	members map[memberKey]bool
}

// memberKey names an object whatever the version of its kind.
type memberKey struct {
	kind      schema.GroupKind
	namespace string
	name      string
}

func keyOf(ref Ref) memberKey { return memberKey{ref.Kind.GroupKind(), ref.Namespace, ref.Name} }

func (m *Manager) newSetRun(ctx context.Context, set ApplySet, objects []*unstructured.Unstructured, options []Option) (*setRun, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return nil, err
	}
	if set.Tooling == "" {
		set.Tooling = s.fieldManager + "/v1"
	}
	set.Parent = set.parentRef()
	invalid := func(reason string) error { return &InvalidSetError{Parent: set.Parent, Reason: reason} }
	if name := tool(set.Tooling); name == "" || name == set.Tooling || strings.HasSuffix(set.Tooling, "/") {
		return nil, invalid(fmt.Sprintf("tooling %q isn't <name>/<version>", set.Tooling))
	}
	if len(objects) == 0 && !set.PruneAll {
		return nil, invalid("it is empty, and all its members would be deleted: set PruneAll if that is meant")
	}
	r := &setRun{
		Manager: m, settings: s, set: set, wanted: newInventory(),
		versions: map[schema.GroupKind]schema.GroupVersionKind{}, members: map[memberKey]bool{},
	}
	r.settings.contents = r.labelledContents(s.contents)
	r.port = m.requests(s)
	if r.where, err = m.Locate(ctx, emptyOf(set.Parent), options...); err != nil {
		return nil, err
	}
	set.Parent = r.where
	if err := s.checkDuplicates(objects, refsOf(objects)); err != nil {
		return nil, err
	}
	r.set, r.id = set, set.ID()
	for _, obj := range objects {
		if err := r.add(ctx, obj, options); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// add takes an object in, with the label of the set. What Apply will say about it isn't said here;
// its kind counts all the same, in case that Apply finds it served.
func (r *setRun) add(ctx context.Context, obj *unstructured.Unstructured, options []Option) error {
	ref, err := r.Locate(ctx, obj, options...)
	var invalid *InvalidManifestError
	var unknown *KindUnknownError
	if err != nil && !errors.As(err, &invalid) && !errors.As(err, &unknown) {
		return err
	}
	if obj == nil || obj.Object == nil {
		return err
	}
	if ref.Namespace == "" && unknown != nil {
		// Its kind comes with the set. If that has no namespaces, one too many on the parent does no harm.
		if namespace, err := r.namespaceOf(ref, Namespaced); err == nil {
			ref.Namespace = namespace
		}
	}
	if keyOf(ref) == keyOf(r.where) {
		return &InvalidManifestError{Ref: ref, Reason: "it is the parent of the set, and can't be a member"}
	}
	labelled, err := r.labelled(ref, obj)
	if err != nil {
		return err
	}
	r.objects = append(r.objects, labelled)
	r.wanted.add(ref)
	r.versions[ref.Kind.GroupKind()] = ref.Kind
	r.members[keyOf(ref)] = true
	return nil
}

// labelledContents are contents with the label of the set where their stand-ins have it.
func (r *setRun) labelledContents(contents contentsFunc) contentsFunc {
	if contents == nil {
		return nil
	}
	return func(ctx context.Context, standIn *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		content, err := contents(ctx, standIn)
		if err != nil || content == standIn || content == nil || content.Object == nil || standIn.GetLabels()[PartOfLabel] != r.id {
			return content, err
		}
		return r.labelled(RefOf(content), content)
	}
}

// labelled is a copy of obj with the label of the set.
func (r *setRun) labelled(ref Ref, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	labelled, err := plainCopy(obj, ref)
	if err != nil {
		return nil, err
	}
	labels, _, err := unstructured.NestedStringMap(labelled.Object, "metadata", "labels")
	if err != nil {
		return nil, &InvalidManifestError{Ref: ref, Reason: "metadata.labels is no map of strings: quote its values"}
	}
	if other := labels[PartOfLabel]; other != "" && other != r.id {
		return nil, &InvalidManifestError{Ref: ref, Reason: "its label " + PartOfLabel + " names another set, " + other + ": leave it out"}
	}
	if labels == nil {
		labels = map[string]string{}
	}
	labels[PartOfLabel] = r.id
	labelled.SetLabels(labels)
	return labelled, nil
}

// checkMember refuses an object that is in another set.
func (r *setRun) checkMember(live *unstructured.Unstructured) error {
	if other := live.GetLabels()[PartOfLabel]; other != "" && other != r.id {
		return &OwnedError{Ref: RefOf(live), Owner: "the ApplySet " + other}
	}
	return nil
}

// guarded is the Manager for the objects, under the eyes of w.
func (r *setRun) guarded(w *witness) *Manager { return r.watchedBy(w, r.settings) }

func emptyOf(ref Ref) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(ref.Kind)
	obj.SetNamespace(ref.Namespace)
	obj.SetName(ref.Name)
	return obj
}

func isOwned(err error) bool {
	var owned *OwnedError
	return errors.As(err, &owned)
}
