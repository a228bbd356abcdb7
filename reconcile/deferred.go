package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Deferred is a form of object for Session.Add and Component.Add whose content is asked for only when the cluster may have to be changed:
// not for one that was applied, or found as it should be, with the same digest before. It is Finished, and Component.Objects returns no more
// of it than its names, save in a dry run and for Observe. Definitions of kinds can't be deferred: others wait for what they say.
type Deferred struct {
	// Ref names the object, just as its content does. An empty namespace is that of the resource for a namespaced one.
	Ref deploy.Ref
	// Digest tells contents apart: two of one object are the same if and only if their digests are.
	Digest string
	// Content returns the object. It isn't changed. A panic is an error.
	Content func(ctx context.Context) (*unstructured.Unstructured, error)
}

// digestKey is where the stand-in of a deferred object has its digest.
const digestKey = "digest"

// definitionKind is the kind of definitions of kinds.
var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// standIn is what takes the place of a deferred object until its content is needed, see deploy.Contents.
func (d Deferred) standIn() (*unstructured.Unstructured, error) {
	switch {
	case d.Ref.Kind.Kind == "" || d.Ref.Kind.Version == "" || d.Ref.Name == "" || d.Digest == "" || d.Content == nil:
		return nil, errors.New("a deferred object needs a kind, a name, a digest and a content")
	case d.Ref.Kind.GroupKind() == definitionKind:
		return nil, fmt.Errorf("the definition %s can't be deferred: add its content", d.Ref.Name)
	}
	metadata := map[string]any{"name": d.Ref.Name}
	if d.Ref.Namespace != "" {
		metadata["namespace"] = d.Ref.Namespace
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": d.Ref.Kind.GroupVersion().String(), "kind": d.Ref.Kind.Kind, "metadata": metadata, digestKey: d.Digest,
	}}, nil
}

// fetch has the contents be there that were deferred, for somebody who looks at them whatever is in the cluster.
func (f *finishedRendering) fetch(ctx context.Context) error {
	for i, o := range f.objects {
		if o.deferred == nil {
			continue
		}
		content, err := o.fetched(ctx)
		if err != nil {
			return fmt.Errorf("object %s: %w", o.name, err)
		}
		f.contents[i] = content
	}
	f.deferred = false
	return nil
}

// content returns the content for a stand-in, any other object as it is.
func (f *finishedRendering) content(ctx context.Context, of *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	for i, o := range f.objects {
		if f.contents[i] == of && o.deferred != nil {
			return o.fetched(ctx)
		}
	}
	return of, nil
}

// fetched is the content of a deferred object.
func (o *Object) fetched(ctx context.Context) (content *unstructured.Unstructured, err error) {
	err = guarded(func() (err error) {
		content, err = o.deferred(ctx)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case content == nil || content.Object == nil:
		return nil, &classified{class: classRollout, err: errors.New("its deferred content is nil")}
	}
	if found := deploy.RefOf(content); found != o.ref {
		return nil, &classified{class: classRollout, err: fmt.Errorf("its deferred content is that of another object, %s", found)}
	}
	return content, nil
}
