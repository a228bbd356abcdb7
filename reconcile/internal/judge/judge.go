package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Reader reads objects of the cluster. After Follow and Own, changes of the objects that are read bring the resource to
// reconcile.
type Reader interface {
	Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error)
	List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector,
		byField ...fields.Selector) ([]*unstructured.Unstructured, error)
	Follow(ctx context.Context, ref deploy.Ref) error
	Own(ctx context.Context, kind schema.GroupVersionKind) error
}

// Judge decides whether objects are ready.
type Judge struct {
	Checker readiness.Checker
	Now     func() time.Time
	Reader  Reader
	// Holds reports whether objects of a kind are read from memory, without a request; nil means that none are.
	Holds func(kind schema.GroupVersionKind, namespace string) bool
	// Unreadable is called when the right to read storage classes is missing.
	Unreadable func(message string, err error)
}

var (
	volumeClaimKind  = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	storageClassKind = schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"}
)

// unreadClasses is the message for the missing right to read storage classes.
const unreadClasses = "the right to get, list and watch storageclasses.storage.k8s.io is missing, " +
	"so it isn't known whether a claim waits for a Pod: grant that right by RBAC"

// Object decides whether an object is ready; live is nil if there is none. Object reads from the cluster how the class
// of a claim binds volumes, unless the Checker knows this.
func (j Judge) Object(ctx context.Context, live *unstructured.Unstructured) (readiness.Result, error) {
	checker := j.Checker
	if live == nil || checker.WaitsForConsumer != nil || live.GroupVersionKind().GroupKind() != volumeClaimKind.GroupKind() {
		return checker.At(j.Now(), live), nil
	}
	var unread error
	checker.WaitsForConsumer = func(class string) bool {
		waits, err := j.bindsAtFirstUse(ctx, class)
		unread = err
		return waits
	}
	result := checker.At(j.Now(), live)
	if forbidden, ok := errors.AsType[*deploy.ForbiddenError](unread); ok {
		j.Unreadable(unreadClasses, forbidden)
		result.Message += "; " + unreadClasses
		unread = nil
	}
	return result, unread
}

// bindsAtFirstUse reports whether volumes of a storage class are bound when a Pod uses them. An empty name means the
// default class. The class is followed, so that it is read without a request from the second time on.
func (j Judge) bindsAtFirstUse(ctx context.Context, name string) (bool, error) {
	class, err := j.storageClass(ctx, name)
	if failure.Is[*deploy.KindUnknownError](err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("StorageClass %s: %w", cmp.Or(name, "(default)"), err)
	}
	if class == nil {
		return false, nil
	}
	mode, _, _ := unstructured.NestedString(class.Object, "volumeBindingMode")
	return mode == "WaitForFirstConsumer", nil
}

// storageClass returns the storage class called name, nil if there is none.
func (j Judge) storageClass(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	if name != "" {
		ref := deploy.Ref{Kind: storageClassKind, Name: name}
		if err := j.Reader.Follow(ctx, ref); err != nil {
			return nil, err
		}
		return j.Reader.Get(ctx, ref)
	}
	if err := j.Reader.Own(ctx, storageClassKind); err != nil {
		return nil, err
	}
	classes, err := j.Reader.List(ctx, storageClassKind, "", nil)
	if err != nil {
		return nil, err
	}
	classes = slices.DeleteFunc(slices.Clone(classes), func(class *unstructured.Unstructured) bool { return !isDefaultClass(class) })
	if len(classes) == 0 {
		return nil, nil
	}
	// Of several default classes the API server takes the newest one, and of several of the same age the first by name.
	return slices.MinFunc(classes, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(b.GetCreationTimestamp().Compare(a.GetCreationTimestamp().Time), strings.Compare(a.GetName(), b.GetName()))
	}), nil
}

func isDefaultClass(class *unstructured.Unstructured) bool {
	annotations := class.GetAnnotations()
	return annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
		annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
}
