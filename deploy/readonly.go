package deploy

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// errReadOnly is the error of a write that wasn't sent.
var errReadOnly = errors.New("the write was not sent")

// readOnly is a Port that sends no writes, not even dry runs.
type readOnly struct{ Port }

func (readOnly) Create(context.Context, *unstructured.Unstructured, CreateOptions) (*unstructured.Unstructured, error) {
	return nil, errReadOnly
}

func (readOnly) Update(context.Context, *unstructured.Unstructured, UpdateOptions) (*unstructured.Unstructured, error) {
	return nil, errReadOnly
}

func (readOnly) Apply(context.Context, *unstructured.Unstructured, ApplyOptions) (Applied, error) {
	return Applied{}, errReadOnly
}

func (readOnly) Patch(context.Context, Ref, PatchRequest) (*unstructured.Unstructured, error) {
	return nil, errReadOnly
}

func (readOnly) Delete(context.Context, Ref, DeleteOptions) error { return errReadOnly }
