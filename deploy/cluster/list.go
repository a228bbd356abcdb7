package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/operkit/operkit/deploy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// pageSize is the number of objects in a page of a list.
const pageSize = 500

// list returns the objects of ref's kind and namespace, ordered by namespace and name, all in the state at one
// resourceVersion. If the server drops that version before the last page, list starts again, once.
func (r *requests) list(ctx context.Context, res resource, ref deploy.Ref, options deploy.ListOptions) ([]*unstructured.Unstructured, error) {
	if selectsNothing(options) {
		return nil, nil
	}
	objects, err := r.pages(ctx, res, ref, options)
	if isExpired(err) {
		objects, err = r.pages(ctx, res, ref, options)
	}
	if err != nil {
		return nil, err
	}
	byName(objects)
	return objects, nil
}

func (r *requests) pages(ctx context.Context, res resource, ref deploy.Ref, options deploy.ListOptions) ([]*unstructured.Unstructured, error) {
	subject := failed{verb: "list", resource: res, ref: ref}
	var objects []*unstructured.Unstructured
	for token := ""; ; {
		request := r.client.Get().Param("limit", strconv.Itoa(pageSize))
		if token != "" {
			request = request.Param("continue", token)
		}
		if options.Labels != nil && !options.Labels.Empty() {
			request = request.Param("labelSelector", options.Labels.String())
		}
		if options.Fields != nil && !options.Fields.Empty() {
			request = request.Param("fieldSelector", options.Fields.String())
		}
		page, err := r.sendTo(ctx, subject.ref, request, subject)
		if err != nil {
			return nil, err
		}
		err = page.object.EachListItem(func(item runtime.Object) error {
			obj, ok := item.(*unstructured.Unstructured)
			if !ok {
				return fmt.Errorf("its item is a %T", item)
			}
			// Items of lists of built-in kinds have no kind.
			obj.SetGroupVersionKind(ref.Kind)
			objects = append(objects, obj)
			return nil
		})
		if err != nil {
			return nil, &deploy.UnavailableError{Ref: ref, Err: fmt.Errorf("the answer isn't a list: %w", err)}
		}
		// An error only means that the token isn't a string.
		if token, _, _ = unstructured.NestedString(page.object.Object, "metadata", "continue"); token == "" {
			return objects, nil
		}
	}
}

// selectsNothing reports whether a selector matches no object at all. A request can't express such a selector.
func selectsNothing(options deploy.ListOptions) bool {
	return options.Labels != nil && !options.Labels.Empty() && options.Labels.String() == "" ||
		options.Fields != nil && !options.Fields.Empty() && options.Fields.String() == ""
}

// isExpired reports whether the server doesn't have the requested version any more.
func isExpired(err error) bool {
	return err != nil && (apierrors.IsResourceExpired(err) || apierrors.IsGone(err))
}

func byName(objects []*unstructured.Unstructured) {
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
}
