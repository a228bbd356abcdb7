package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Deferred is a form of object for Session.Add and Component.Add whose content is asked for only when the cluster may have to be changed:
// not for one that was applied, or found as it should be, with the same digest before. It is Finished, and Component.Objects returns no more
// of it than its names, save in a dry run and for Observe. Definitions of kinds can't be deferred.
type Deferred struct {
	// Ref names the object, in full. An empty namespace is that of the resource for a namespaced one.
	Ref deploy.Ref
	// Digest tells contents apart: two of one object are the same if and only if their digests are.
	Digest string
	// Content returns the object. It isn't changed.
	Content func(ctx context.Context) (*unstructured.Unstructured, error)
}

// digestKey is where the stand-in of a deferred object has its digest.
const digestKey = "digest"

// standIn is what takes the place of a deferred object until its content is needed, see deploy.Contents.
func (d Deferred) standIn() (*unstructured.Unstructured, error) {
	if d.Ref.Name == "" || d.Digest == "" || d.Content == nil {
		return nil, errors.New("a deferred object needs a name, a digest and a content")
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
	for i, content := range f.contents {
		whole, err := f.content(ctx, content)
		if err != nil {
			return fmt.Errorf("object %s: %w", f.objects[i].name, err)
		}
		f.contents[i] = whole
	}
	f.deferred = false
	return nil
}

// content returns the content for a stand-in, any other object as it is.
func (f *finishedRendering) content(ctx context.Context, of *unstructured.Unstructured) (content *unstructured.Unstructured, err error) {
	for i, o := range f.objects {
		if f.contents[i] == of && o.deferred != nil {
			err = guarded(func() (err error) {
				content, err = o.deferred(ctx)
				return err
			})
			return content, err
		}
	}
	return of, nil
}
