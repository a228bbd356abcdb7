package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// requests sends single requests and turns answers into objects and typed errors.
type requests struct{ client rest.Interface }

func newRequests(config *rest.Config, client *http.Client) (*requests, error) {
	// Only Status and DeleteOptions are ever decoded by type; objects stay plain.
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config = rest.CopyConfig(config)
	config.GroupVersion = &schema.GroupVersion{}
	config.AcceptContentTypes = "application/json"
	config.ContentType = "application/json"
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	restClient, err := rest.UnversionedRESTClientForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	return &requests{client: restClient}, nil
}

func (r *requests) discover(ctx context.Context, version schema.GroupVersion) (*metav1.APIResourceList, error) {
	path := "/apis/" + version.String()
	if version.Group == "" {
		path = "/api/" + version.Version
	}
	result := r.client.Get().AbsPath(path).MaxRetries(0).Do(ctx)
	if err := result.Error(); err != nil {
		return nil, typed(err, failed{verb: "get", resource: resource{GroupVersionResource: schema.GroupVersionResource{Resource: path}}})
	}
	body, err := result.Raw()
	if err != nil {
		return nil, &deploy.UnavailableError{Err: fmt.Errorf("%s: %w", path, err)}
	}
	list := &metav1.APIResourceList{}
	if err := json.Unmarshal(body, list); err != nil {
		return nil, &deploy.UnavailableError{Err: fmt.Errorf("%s: %w", path, err)}
	}
	return list, nil
}

func (r *requests) get(ctx context.Context, res resource, ref deploy.Ref) (*unstructured.Unstructured, error) {
	obj, _, err := send(ctx, r.client.Get().AbsPath(path(res, ref)...), failed{"get", res, ref, ""})
	return obj, err
}

func (r *requests) list(ctx context.Context, res resource, ref deploy.Ref, selector string) ([]*unstructured.Unstructured, error) {
	request := r.client.Get().AbsPath(path(res, ref)...)
	if selector != "" {
		request = request.Param("labelSelector", selector)
	}
	list, _, err := send(ctx, request, failed{"list", res, ref, ""})
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	err = list.EachListItem(func(item runtime.Object) error {
		obj := item.(*unstructured.Unstructured)
		// Items of lists of built-in kinds don't say what they are.
		obj.SetGroupVersionKind(ref.Kind)
		objects = append(objects, obj)
		return nil
	})
	return objects, err
}

func (r *requests) patch(ctx context.Context, res resource, ref deploy.Ref, p deploy.Patch, force bool) (*unstructured.Unstructured, int, error) {
	at := path(res, ref)
	if p.Subresource != "" {
		at = append(at, p.Subresource)
	}
	request := r.client.Patch(p.Type).AbsPath(at...).Body(p.Body).Param("fieldManager", p.FieldManager)
	if force {
		request = request.Param("force", "true")
	}
	if p.Type == types.ApplyPatchType {
		// A field that the server doesn't know would never be owned: each look would apply again.
		request = request.Param("fieldValidation", metav1.FieldValidationStrict)
	}
	if p.DryRun {
		request = request.Param("dryRun", metav1.DryRunAll)
	}
	return send(ctx, request, failed{"patch", res, ref, p.Subresource})
}

func (r *requests) delete(ctx context.Context, res resource, ref deploy.Ref, options deploy.DeleteOptions) (*unstructured.Unstructured, error) {
	propagation := options.Propagation
	if propagation == "" {
		propagation = metav1.DeletePropagationBackground
	}
	body := metav1.DeleteOptions{
		TypeMeta:          metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		PropagationPolicy: &propagation,
	}
	if options.UID != "" {
		body.Preconditions = &metav1.Preconditions{UID: &options.UID}
	}
	if options.DryRun {
		body.DryRun = []string{metav1.DryRunAll}
	}
	content, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("%s: delete options: %w", ref, err)
	}
	obj, _, err := send(ctx, r.client.Delete().AbsPath(path(res, ref)...).Body(content), failed{"delete", res, ref, ""})
	return obj, err
}

func send(ctx context.Context, request *rest.Request, subject failed) (*unstructured.Unstructured, int, error) {
	var code int
	// Whoever asked knows how long it may take, and tries again.
	result := request.MaxRetries(0).Do(ctx).StatusCode(&code)
	if err := result.Error(); err != nil {
		return nil, code, typed(err, subject)
	}
	body, err := result.Raw()
	if err != nil {
		return nil, code, typed(err, subject)
	}
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(body); err != nil {
		return nil, code, &deploy.UnavailableError{Err: fmt.Errorf("%s: the answer is no object: %w", subject.ref, err)}
	}
	return obj, code, nil
}

func path(res resource, ref deploy.Ref) []string {
	parts := []string{"/apis", res.Group, res.Version}
	if res.Group == "" {
		parts = []string{"/api", res.Version}
	}
	if ref.Namespace != "" {
		parts = append(parts, "namespaces", ref.Namespace)
	}
	parts = append(parts, res.Resource)
	if ref.Name != "" {
		parts = append(parts, ref.Name)
	}
	return parts
}
