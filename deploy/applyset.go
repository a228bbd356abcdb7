package deploy

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Labels and annotations of ApplySets as KEP-3659 specifies them, which kubectl follows too.
const (
	// PartOfLabel on a member names its set.
	PartOfLabel = "applyset.kubernetes.io/part-of"
	// SetIDLabel on a parent is the name of its set.
	SetIDLabel = "applyset.kubernetes.io/id"
	// SetToolingAnnotation on a parent says which tool keeps the set: "<name>/<version>".
	SetToolingAnnotation = "applyset.kubernetes.io/tooling"
	// SetKindsAnnotation on a parent lists the kinds of which there may be members.
	SetKindsAnnotation = "applyset.kubernetes.io/contains-group-kinds"
	// SetNamespacesAnnotation on a parent lists the namespaces, beside its own, in which there may
	// be members.
	SetNamespacesAnnotation = "applyset.kubernetes.io/additional-namespaces"
)

// ApplySet is a set of objects that are applied together, so that those which leave it can be found
// and deleted. Its parent is an object in the cluster that remembers where members may be; every
// member carries a label. Only Parent.Name, and a namespace for it, must be given.
type ApplySet struct {
	// Parent names the parent. Without a Kind it is a Secret of v1, as with kubectl. Secrets and
	// ConfigMaps are created when they are absent; objects of other kinds must exist. kubectl
	// accepts another kind only if its CustomResourceDefinition has the label
	// applyset.kubernetes.io/is-parent-type.
	Parent Ref
	// Tooling is the tool that keeps the set, as "<name>/<version>". Sets of tools of another name
	// are refused. Empty: the name of the field manager, and v1.
	Tooling string
	// PruneAll allows the set to be empty, so that all its members are deleted. Otherwise an empty
	// set is an error: mostly it is a folder that wasn't found.
	PruneAll bool
	// Deletable are kinds whose objects are pruned although they are protected: Namespace,
	// CustomResourceDefinition, PersistentVolumeClaim and PersistentVolume are, since data or other
	// objects would go with them.
	Deletable []schema.GroupKind
	// Adopt lets an object that exists, and isn't the parent of a set yet, become one.
	Adopt bool
}

var defaultParentKind = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// ID is the name of the set, made of the name of its parent.
func (s ApplySet) ID() string {
	ref := s.parentRef()
	sum := sha256.Sum256([]byte(strings.Join([]string{ref.Name, ref.Namespace, ref.Kind.Kind, ref.Kind.Group}, ".")))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

func (s ApplySet) parentRef() Ref {
	ref := s.Parent
	if ref.Kind.Empty() {
		ref.Kind = defaultParentKind
	}
	return ref
}

// tool is the part of tooling that tells tools apart.
func tool(tooling string) string {
	if i := strings.LastIndex(tooling, "/"); i >= 0 {
		return tooling[:i]
	}
	return tooling
}

// InvalidSetError tells that a set can't be applied as it is given, or as its parent remembers it.
// Nothing was changed.
type InvalidSetError struct {
	// Parent is the set's, Reason what is wrong and what to do.
	Parent Ref
	Reason string
}

// Error names the parent before what is wrong.
func (e *InvalidSetError) Error() string {
	return fmt.Sprintf("ApplySet of %s: %s", describe(e.Parent), e.Reason)
}

// SetResults is what became of an ApplySet.
type SetResults struct {
	// Applied holds one Result per object, in the order of the objects.
	Applied Results
	// Pruned holds the members that aren't among the objects. None while the objects aren't all applied.
	Pruned []Pruned
	// Calls is how many requests were sent for the set itself: for its parent and to find members.
	Calls int
}

// Changed tells whether any object was changed, the parent apart.
func (r SetResults) Changed() bool {
	return r.Applied.Changed() || slices.ContainsFunc(r.Pruned, func(p Pruned) bool { return p.Changed() })
}

// ApplySet applies objects as Apply does, each with the label of the set, and deletes the members of
// the set that aren't among them: those of an earlier call that have gone from the folder since.
//
// No member is ever lost, whenever the process ends: the kinds and namespaces of the objects are
// written on the parent, beside those that are there, before the first is applied, and what has
// become needless is taken off it last. Nothing is pruned unless every object is there and was
// applied without error. No wrong object is deleted: a member that is found by its label is deleted
// by the uid under which it was found, one that is among the objects under another kind is known by
// its uid, and an object of another set is a *OwnedError and left alone. Members of protected kinds
// are kept, see ApplySet.Deletable, and so are those that aren't the owner's (OwnedBy) and may not be adopted, or are another's.
//
// A parent that another tool keeps, or that is no parent, is an *OwnedError; see ApplySet.Adopt. An
// unchanged set costs a read of the parent and a list for each kind and namespace. In a dry run the
// results say what would be pruned and why. One call at a time should work on a set: what another
// process wrote on the parent meanwhile is never overwritten, but objects that it is about to apply
// can't be told from objects that are gone.
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
	results.Applied, err = r.guarded(&witness{guard: r.checkMember}).Apply(ctx, r.objects)
	for i, result := range results.Applied {
		founded, early := r.founded[i]
		switch {
		case result.Action == Failed && isOwned(result.Err):
			results.Applied[i].Action = Conflicted
		case early && result.Err == nil:
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
