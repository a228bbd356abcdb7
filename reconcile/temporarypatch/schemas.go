package temporarypatch

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/smp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var definitions = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// schemaAge is how long schemas of custom resources are cached, so that a target with patches costs no call while
// nothing changes.
const schemaAge = 10 * time.Minute

// schemas caches the schemas by which custom resources are merged. It is safe for concurrent use.
type schemas struct {
	// turn is held by the caller that lists the definitions. Other callers wait for it until their contexts end.
	turn   chan struct{}
	latest atomic.Pointer[listing]
}

func newSchemas() *schemas { return &schemas{turn: make(chan struct{}, 1)} }

// of returns the schema of a kind, the zero Schema if no definition has it or the definitions may not be read.
func (s *schemas) of(ctx context.Context, target patching.Target, kind schema.GroupVersionKind, clock func() time.Time) (smp.Schema, error) {
	if own := smp.SchemaFor(kind); own.Known() {
		return own, nil
	}
	if found, ok := s.latest.Load().of(kind, clock()); ok {
		return found, nil
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return smp.Schema{}, fmt.Errorf("schema of %s: %w", kind.Kind, context.Cause(ctx))
	}
	before := s.latest.Load()
	if found, ok := before.of(kind, clock()); ok {
		return found, nil
	}
	next, err := listAnew(ctx, target, kind, before, clock())
	if next != nil {
		s.latest.Store(next)
	}
	if err != nil {
		return smp.Schema{}, fmt.Errorf("schema of %s: %w", kind.Kind, err)
	}
	return next.known[kind], nil
}

// listing is the result of one List of the definitions. It is immutable.
type listing struct {
	read  time.Time
	known map[schema.GroupVersionKind]smp.Schema
	// declared are the kinds that have a definition.
	declared map[schema.GroupKind]bool
	// requested are the kinds for which the definitions were listed, now or in an earlier listing. A requested kind
	// without a definition isn't listed again before schemaAge; other kinds may have got a definition since.
	requested map[schema.GroupVersionKind]bool
	// refused: the operator may not read the definitions.
	refused bool
}

// of returns the schema of a kind; ok is false if the definitions must be listed to find it.
func (l *listing) of(kind schema.GroupVersionKind, now time.Time) (found smp.Schema, ok bool) {
	if l == nil || now.Sub(l.read) >= schemaAge {
		return smp.Schema{}, false
	}
	found, ok = l.known[kind]
	return found, ok || l.refused || l.requested[kind] && !l.declared[kind.GroupKind()]
}

// listAnew lists the definitions because of a kind. If both results are set, the error is about the definition of that
// kind.
func listAnew(ctx context.Context, target patching.Target, kind schema.GroupVersionKind, before *listing, now time.Time) (*listing, error) {
	next := &listing{
		read: now, known: map[schema.GroupVersionKind]smp.Schema{}, declared: map[schema.GroupKind]bool{},
		requested: map[schema.GroupVersionKind]bool{kind: true},
	}
	if before != nil {
		maps.Copy(next.requested, before.requested)
	}
	crds, err := target.View.List(ctx, definitions, "", nil)
	switch {
	case failure.Is[*deploy.KindUnknownError](err), failure.Is[*deploy.ForbiddenError](err):
		target.Logger.Warn("CustomResourceDefinitions can't be read: patches of custom resources replace lists as a whole", "kind", kind.String(), "error", err)
		next.refused = true
		return next, nil
	case err != nil:
		return nil, err
	}
	var wrong error
	for _, crd := range crds {
		declared := declaredBy(crd)
		next.declared[declared] = true
		for _, version := range versionsOf(crd) {
			if read, err := smp.SchemaFromCRD(crd.Object, version); err == nil {
				next.known[declared.WithVersion(version)] = read
			}
		}
		if _, ok := next.known[kind]; !ok && declared == kind.GroupKind() {
			_, wrong = smp.SchemaFromCRD(crd.Object, kind.Version)
		}
	}
	return next, wrong
}

func declaredBy(crd *unstructured.Unstructured) schema.GroupKind {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}
}

func versionsOf(crd *unstructured.Unstructured) (names []string) {
	versions, _, _ := unstructured.NestedFieldNoCopy(crd.Object, "spec", "versions")
	list, _ := versions.([]any)
	for _, version := range list {
		fields, _ := version.(map[string]any)
		if name, ok := fields["name"].(string); ok {
			names = append(names, name)
		}
	}
	return names
}
