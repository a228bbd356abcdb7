package deploy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Labels and annotations of ApplySets, as KEP-3659 specifies and kubectl uses them.
const (
	// PartOfLabel on a member names its set.
	PartOfLabel = "applyset.kubernetes.io/part-of"
	// SetIDLabel on a parent names its set.
	SetIDLabel = "applyset.kubernetes.io/id"
	// SetToolingAnnotation on a parent names the tool that manages the set: "<name>/<version>".
	SetToolingAnnotation = "applyset.kubernetes.io/tooling"
	// SetKindsAnnotation on a parent lists the kinds that members may have.
	SetKindsAnnotation = "applyset.kubernetes.io/contains-group-kinds"
	// SetNamespacesAnnotation on a parent lists the namespaces, besides the parent's own, that members may be in.
	SetNamespacesAnnotation = "applyset.kubernetes.io/additional-namespaces"
)

// ApplySet is a set of objects that are applied together. Objects that have left the set are deleted. The parent of the
// set is an object in the cluster. It records the kinds and namespaces that members may have, and every member carries
// a label that names the set. Parent.Name is required, and so is a namespace for the parent.
type ApplySet struct {
	// Parent names the parent. Without a Kind the parent is a Secret of v1, as with kubectl. A Secret or ConfigMap is
	// created if it is absent; a parent of another kind must exist. kubectl accepts another kind only if its
	// CustomResourceDefinition has the label applyset.kubernetes.io/is-parent-type.
	Parent Ref
	// Tooling is the tool that manages the set, as "<name>/<version>". A set of a tool with another name is refused. If
	// Tooling is empty, the name is the name of the field manager, and the version is v1.
	Tooling string
	// PruneAll allows the set to be empty, so that all its members are deleted. If PruneAll is false, an empty set is
	// an error, because its usual cause is a folder that wasn't found.
	PruneAll bool
	// Deletable are Protected kinds whose objects are pruned nevertheless. This may also delete data or other objects.
	Deletable []schema.GroupKind
	// Adopt allows an existing object that isn't the parent of a set yet to become the parent of this set.
	Adopt bool
}

var defaultParentKind = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// ID returns the name of the set, which is derived from the name, namespace, kind and group of its parent.
func (s ApplySet) ID() string {
	ref := s.parentRef()
	sum := sha256.Sum256([]byte(strings.Join([]string{ref.Name, ref.Namespace, ref.Kind.Kind, ref.Kind.Group}, ".")))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

func (s ApplySet) parentRef() Ref {
	ref := s.Parent
	ref.Kind = cmp.Or(ref.Kind, defaultParentKind)
	return ref
}

// tool returns the name of the tool in a value of Tooling.
func tool(tooling string) string {
	if i := strings.LastIndex(tooling, "/"); i >= 0 {
		return tooling[:i]
	}
	return tooling
}

// InvalidSetError reports that a set can't be applied, because its arguments or the records of its parent are invalid.
// Nothing was changed.
type InvalidSetError struct {
	// Parent is the parent of the set. Reason says what is wrong and what to do.
	Parent Ref
	Reason string
}

// Error returns the parent and the reason.
func (e *InvalidSetError) Error() string {
	return fmt.Sprintf("ApplySet of %s: %s", describe(e.Parent), e.Reason)
}

// SetResults are the results of ApplySet.
type SetResults struct {
	// Applied holds one Result per object, in the order of the objects.
	Applied Results
	// Pruned holds one Pruned for each member that isn't among the objects. It is empty unless all objects were
	// applied.
	Pruned []Pruned
	// Calls is how many requests were sent for the set itself: for its parent and to list members.
	Calls int
}

// Changed reports whether any object was changed, not counting the parent.
func (r SetResults) Changed() bool {
	return r.Applied.Changed() || slices.ContainsFunc(r.Pruned, Pruned.Changed)
}

// ApplySet applies objects as Apply does, each with the label of the set, and then prunes: it deletes the members of
// the set that aren't among the objects.
//
// Every member can be found again, even if the process ends during the call: before the first object is applied, the
// kinds and namespaces of the objects are added to the parent. Kinds and namespaces that aren't needed any more are
// removed last. Members are pruned only if every object was applied without error. A member is found by its label and
// deleted by its uid. If an object of the set is also served under another kind, it is recognized by its uid and isn't
// deleted. An object of another set is left alone, with an *OwnedError. Members of protected kinds are kept, see
// ApplySet.Deletable. With an owner (OwnedBy), members of other owners are kept, too. Members without an owner are kept
// unless they may be adopted.
//
// If another tool manages the set of the parent, the error is an *OwnedError. It is also an *OwnedError if the object
// exists and isn't the parent of a set, see ApplySet.Adopt. An unchanged set costs a read of the parent and a list for
// each kind and namespace. In a dry run, the results show which members would be pruned, and why. Call ApplySet for a
// set from only one process at a time. It never overwrites changes that another process has made to the parent
// meanwhile, but it can't distinguish objects that the other process is about to apply from objects that have left the
// set.
func (m *Manager) ApplySet(ctx context.Context, set ApplySet, objects []*unstructured.Unstructured, options ...Option) (SetResults, error) {
	r, err := m.newSetRun(ctx, set, objects, options)
	if err != nil {
		return SetResults{}, err
	}
	results, err := r.run(ctx)
	results.Calls = int(r.port.calls.Load())
	return results, err
}

func (r *setRun) run(ctx context.Context) (results SetResults, err error) {
	if err := r.open(ctx); err != nil {
		return results, err
	}
	if r.parent == nil && len(r.objects) == 0 {
		return results, nil
	}
	if err := r.widen(ctx); err != nil {
		return results, err
	}
	results.Applied, err = r.apply(ctx, r.settings, r.objects)
	for i, founded := range r.founded {
		if i < len(results.Applied) && results.Applied[i].Err == nil {
			results.Applied[i].Action = founded.Action
			results.Applied[i].Calls += founded.Calls
		}
	}
	if err != nil || len(results.Applied) < len(r.objects) {
		return results, err
	}
	kept, err := r.keptBy(ctx, results.Applied)
	if err != nil {
		return results, err
	}
	if results.Pruned, err = r.candidates(ctx, kept); err != nil {
		return results, err
	}
	if err := r.prune(ctx, results.Pruned); err != nil {
		return results, err
	}
	return results, r.shrink(ctx, results.Pruned)
}

// setRun is one call for an ApplySet.
type setRun struct {
	*Manager
	settings
	set ApplySet
	id  string
	// where is the reference of the parent. parent is its state in the cluster, nil if it is absent.
	where  Ref
	parent *unstructured.Unstructured
	port   requests
	// objects are private copies with the label of the set.
	objects []*unstructured.Unstructured
	// wanted holds the kinds and namespaces of the objects. known holds the kinds and namespaces that the parent
	// records.
	wanted, known inventory
	// founded are the results of objects that were applied before the others, by their index in objects.
	founded map[int]Result
	// versions are the versions of the kinds in objects.
	versions map[schema.GroupKind]schema.GroupVersionKind
	// members are the keys of objects, without the version of the kind.
	members map[memberKey]bool
}

// memberKey identifies an object in any version of its kind.
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
	set.Tooling = cmp.Or(set.Tooling, s.fieldManager+"/v1")
	set.Parent = set.parentRef()
	invalid := func(reason string) error { return &InvalidSetError{Parent: set.Parent, Reason: reason} }
	if name := tool(set.Tooling); name == "" || name == set.Tooling || strings.HasSuffix(set.Tooling, "/") {
		return nil, invalid(fmt.Sprintf("tooling %q isn't <name>/<version>", set.Tooling))
	}
	if len(objects) == 0 && !set.PruneAll {
		return nil, invalid("the set is empty, so all its members would be deleted: set ApplySet.PruneAll to allow this")
	}
	r := &setRun{
		Manager: m, settings: s, set: set, wanted: newInventory(),
		versions: map[schema.GroupKind]schema.GroupVersionKind{}, members: map[memberKey]bool{},
	}
	r.settings.contents, r.settings.inspect = r.labelledContents(s.contents), r.checkMember
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

// add appends a copy of obj with the label of the set. Most errors in the manifest are found later, by Apply. A kind
// that isn't served yet is recorded, too, because it may be served by the time of the apply.
func (r *setRun) add(ctx context.Context, obj *unstructured.Unstructured, options []Option) error {
	ref, err := r.Locate(ctx, obj, options...)
	var unknown *KindUnknownError
	if err != nil && !is[*InvalidManifestError](err) && !errors.As(err, &unknown) {
		return err
	}
	if obj == nil || obj.Object == nil {
		return err
	}
	if ref.Namespace == "" && unknown != nil {
		// The set may define the kind. If the kind turns out to be cluster-scoped, the parent records a namespace that
		// isn't used, which does no harm.
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

// labelledContents returns a contentsFunc that calls contents, and adds the label of the set to the returned object if
// the stand-in has the label.
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

// labelled returns a copy of obj with the label of the set.
func (r *setRun) labelled(ref Ref, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	labelled, err := plainCopy(obj, ref)
	if err != nil {
		return nil, err
	}
	labels, err := metadataTexts(labelled, ref, "labels")
	if err != nil {
		return nil, err
	}
	if other := labels[PartOfLabel]; other != "" && other != r.id {
		return nil, &InvalidManifestError{Ref: ref, Reason: "its label " + PartOfLabel + " names another set, " + other + ": leave the label out"}
	}
	labels[PartOfLabel] = r.id
	labelled.SetLabels(labels)
	return labelled, nil
}

// checkMember returns an error if live is a member of another set.
func (r *setRun) checkMember(ref Ref, live *unstructured.Unstructured) error {
	if live == nil {
		return nil
	}
	if other := live.GetLabels()[PartOfLabel]; other != "" && other != r.id {
		return &OwnedError{Ref: ref, Owner: "the ApplySet " + other}
	}
	return nil
}

func emptyOf(ref Ref) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(ref.Kind)
	obj.SetNamespace(ref.Namespace)
	obj.SetName(ref.Name)
	return obj
}
