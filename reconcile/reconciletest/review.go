package reconciletest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/operkit/operkit/deploy/dryrun"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// The users of requests in memory.
const (
	// TestUser is the user of the test's own requests.
	TestUser = "test"
	// OperatorUser is the user of the reconcilers' requests.
	OperatorUser = "system:serviceaccount:operator:operator"
)

type byOperator struct{}

// asOperator marks requests of reconcilers.
func asOperator(ctx context.Context) context.Context {
	return context.WithValue(ctx, byOperator{}, true)
}

var resourceless schema.GroupResource

// request returns what an API server asks a webhook about a write.
func (w *webhooks) request(ctx context.Context, one asked, review *dryrun.Write) (*admissionv1.AdmissionRequest, error) {
	w.mu.Lock()
	w.asked++
	number := w.asked
	w.mu.Unlock()
	user := TestUser
	if ctx.Value(byOperator{}) != nil {
		user = OperatorUser
	}
	asked := metav1.GroupVersionKind{Group: review.Ref.Kind.Group, Version: review.Ref.Kind.Version, Kind: review.Ref.Kind.Kind}
	resource := metav1.GroupVersionResource{Group: asked.Group, Version: asked.Version, Resource: review.Resource.Resource}
	kind, converted := asked, resource
	kind.Version, converted.Version = one.kind.Version, one.kind.Version
	dryRun := review.Call.DryRun
	request := &admissionv1.AdmissionRequest{
		UID:  types.UID(fmt.Sprintf("a5cedb1e-0000-4000-8000-%012x", number)),
		Kind: kind, Resource: converted, SubResource: review.Call.Subresource, RequestKind: &asked, RequestResource: &resource, RequestSubResource: review.Call.Subresource,
		Name: review.Ref.Name, Namespace: review.Ref.Namespace, Operation: admissionv1.Operation(operationOf(review)), DryRun: &dryRun,
		UserInfo: authenticationv1.UserInfo{Username: user, Groups: []string{"system:authenticated"}},
	}
	var err error
	if request.Options.Raw, err = json.Marshal(optionsOf(review)); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		object *unstructured.Unstructured
		raw    *runtime.RawExtension
	}{{review.Object, &request.Object}, {review.Old, &request.OldObject}} {
		if part.object == nil {
			continue
		}
		object, err := w.inVersion(part.object, one.kind.Version)
		if err != nil {
			return nil, err
		}
		if part.raw.Raw, err = json.Marshal(object.Object); err != nil {
			return nil, err
		}
	}
	return request, nil
}

// optionsOf returns the options of a request.
func optionsOf(review *dryrun.Write) map[string]any {
	options := map[string]any{"apiVersion": "meta.k8s.io/v1"}
	call := review.Call
	if call.DryRun {
		options["dryRun"] = []any{metav1.DryRunAll}
	}
	if call.FieldManager != "" {
		options["fieldManager"] = call.FieldManager
	}
	switch operationOf(review) { // of a patch, too, as on an API server
	case admissionregistrationv1.Delete:
		options["kind"] = "DeleteOptions"
		if call.UID != "" {
			options["preconditions"] = map[string]any{"uid": string(call.UID)}
		}
	case admissionregistrationv1.Update:
		options["kind"] = "UpdateOptions"
	default:
		options["kind"] = "CreateOptions"
	}
	return options
}

// inVersion returns an object in a version of its kind.
func (w *webhooks) inVersion(object *unstructured.Unstructured, version string) (*unstructured.Unstructured, error) {
	if object.GroupVersionKind().Version == version {
		return object, nil
	}
	for _, conversion := range w.conversions {
		if conversion.Kind == object.GroupVersionKind().GroupKind() {
			return conversion.Convert(object, version)
		}
	}
	other := object.DeepCopy()
	other.SetGroupVersionKind(object.GroupVersionKind().GroupKind().WithVersion(version))
	return other, nil
}
