package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	claimKind        = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	storageClassKind = schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"}
)

// unreadClasses is the right without which nobody knows how claims of a storage class are bound.
const unreadClasses = "the right to get, list and watch storageclasses.storage.k8s.io is missing, " +
	"so that a claim isn't known to wait for a Pod: grant it by RBAC"

// judge decides whether an object is ready. How the class of a claim binds volumes is read from the cluster, unless the
// Checker of ReadyBy knows it.
func (s *Session) judge(ctx context.Context, live *unstructured.Unstructured) (readiness.Result, error) {
	checker := s.readiness
	if live == nil || checker.WaitsForConsumer != nil || live.GroupVersionKind().GroupKind() != claimKind {
		return checker.At(s.now(), live), nil
	}
	var failure error
	checker.WaitsForConsumer = func(class string) bool {
		waits, err := s.bindsAtFirstUse(ctx, class)
		failure = err
		return waits
	}
	result := checker.At(s.now(), live)
	var forbidden *deploy.ForbiddenError
	if errors.As(failure, &forbidden) {
		s.classesUnread.Do(func() { s.logger.Warn(unreadClasses, "error", forbidden) })
		result.Message += "; " + unreadClasses
		failure = nil
	}
	return result, failure
}

// bindsAtFirstUse reports whether volumes of a storage class are bound when a Pod uses them. An empty name means the
// default class. The class is followed, so that it is read without a request from the second time on.
func (s *Session) bindsAtFirstUse(ctx context.Context, name string) (bool, error) {
	class, err := s.storageClass(ctx, name)
	if isUnknownKind(err) {
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

// storageClass returns nil when there is none.
func (s *Session) storageClass(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	if name != "" {
		ref := deploy.Ref{Kind: storageClassKind, Name: name}
		if err := s.Follow(ctx, ref); err != nil {
			return nil, err
		}
		return s.Get(ctx, ref)
	}
	if err := s.Own(ctx, storageClassKind); err != nil {
		return nil, err
	}
	classes, err := s.List(ctx, storageClassKind, "", nil)
	if err != nil {
		return nil, err
	}
	classes = slices.DeleteFunc(slices.Clone(classes), func(class *unstructured.Unstructured) bool { return !isDefaultClass(class) })
	if len(classes) == 0 {
		return nil, nil
	}
	// Of several the API server takes the newest one, and the first by name among those of the same age.
	return slices.MinFunc(classes, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(b.GetCreationTimestamp().Compare(a.GetCreationTimestamp().Time), strings.Compare(a.GetName(), b.GetName()))
	}), nil
}

func isDefaultClass(class *unstructured.Unstructured) bool {
	annotations := class.GetAnnotations()
	return annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
		annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
}
