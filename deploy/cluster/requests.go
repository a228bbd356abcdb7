package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster/internal/compact"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
)

// requests sends single requests and converts responses into objects and typed errors.
type requests struct {
	client rest.Interface
	// limit is the time limit of a request.
	limit time.Duration
	// pool decodes metadata.
	pool *compact.Pool
}

func newRequests(config *rest.Config, client *http.Client, limit time.Duration, pool *compact.Pool) (*requests, error) {
	// The scheme needs only Status and DeleteOptions. All other types are decoded without a scheme.
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
	return &requests{client: restClient, limit: limit, pool: pool}, nil
}

func (r *requests) get(ctx context.Context, res resource, ref deploy.Ref) (answer, error) {
	return r.send(ctx, r.client.Get(), failed{verb: "get", resource: res, ref: ref})
}

// getMetadata is like get, but returns only the metadata.
func (r *requests) getMetadata(ctx context.Context, res resource, ref deploy.Ref) (answer, error) {
	request := r.client.Get().SetHeader("Accept", acceptMetadata)
	return r.send(ctx, request, failed{verb: "get", resource: res, ref: ref, partial: true})
}

func (r *requests) create(ctx context.Context, res resource, ref deploy.Ref, body []byte, options deploy.CreateOptions) (answer, error) {
	if err := creatable(res, ref); err != nil {
		return answer{}, err
	}
	request := r.client.Post().Body(body)
	where := ref
	where.Name = "" // objects are created at the path of their collection
	return r.sendTo(ctx, where, written(request, options.FieldManager, options.DryRun), failed{verb: "create", resource: res, ref: ref})
}

func (r *requests) update(ctx context.Context, res resource, ref deploy.Ref, body []byte, options deploy.UpdateOptions) (answer, error) {
	request := r.client.Put().Body(body)
	return r.send(ctx, written(request, options.FieldManager, options.DryRun), failed{verb: "update", resource: res, ref: ref})
}

func (r *requests) patch(ctx context.Context, res resource, ref deploy.Ref, p deploy.PatchRequest) (answer, error) {
	request := r.client.Patch(p.Type).Body(p.Body)
	return r.send(ctx, signed(request, p.FieldManager, p.DryRun), failed{verb: "patch", resource: res, ref: ref, subresource: p.Subresource})
}

// apply sends a server-side apply. partial requests a response with only metadata.
func (r *requests) apply(ctx context.Context, res resource, ref deploy.Ref, p deploy.PatchRequest, force, partial bool) (answer, error) {
	request := r.client.Patch(types.ApplyPatchType).Body(p.Body)
	if force {
		request = request.Param("force", "true")
	}
	if partial {
		request = request.SetHeader("Accept", acceptMetadata)
	}
	// A server refuses unknown fields in every apply. Field validation would only find duplicate keys, which a map
	// can't have, and the server would parse the body twice.
	request = signed(request, p.FieldManager, p.DryRun).Param("fieldValidation", metav1.FieldValidationIgnore)
	return r.send(ctx, request, failed{verb: "patch", resource: res, ref: ref, subresource: p.Subresource, partial: partial})
}

func (r *requests) delete(ctx context.Context, res resource, ref deploy.Ref, options deploy.DeleteOptions) (answer, error) {
	propagation := cmp.Or(options.Propagation, metav1.DeletePropagationBackground)
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
		return answer{}, fmt.Errorf("%s: delete options: %w", ref, err)
	}
	return r.send(ctx, r.client.Delete().Body(content), failed{verb: "delete", resource: res, ref: ref})
}

// written is like signed, for a creation or an update. It also requests that the server refuses unknown fields.
// Otherwise the server would drop them, and each reconcile would write them again.
func written(request *rest.Request, manager string, dryRun bool) *rest.Request {
	return signed(request, manager, dryRun).Param("fieldValidation", metav1.FieldValidationStrict)
}

// signed adds the field manager and the dry-run parameter to a request.
func signed(request *rest.Request, manager string, dryRun bool) *rest.Request {
	request = request.Param("fieldManager", manager)
	if dryRun {
		request = request.Param("dryRun", metav1.DryRunAll)
	}
	return request
}

// answer is the response to a request.
type answer struct {
	object   *unstructured.Unstructured
	code     int
	warnings []string
}

// send sends request to the path of the subject's object.
func (r *requests) send(ctx context.Context, request *rest.Request, subject failed) (answer, error) {
	if subject.ref.Name == "" { // the path would be the path of all objects
		return answer{}, &deploy.InvalidManifestError{Ref: subject.ref, Reason: "metadata.name is missing"}
	}
	return r.sendTo(ctx, subject.ref, request, subject)
}

func (r *requests) sendTo(ctx context.Context, where deploy.Ref, request *rest.Request, subject failed) (answer, error) {
	at, err := path(subject.resource, where, subject.subresource)
	if err != nil {
		return answer{}, err
	}
	body, got, err := r.do(ctx, request.AbsPath(at...), subject)
	if err != nil {
		return got, err
	}
	if subject.partial {
		var held *compact.Object
		held, err = decodeMetadata(r.pool, body, subject.ref.Kind)
		got.object = held.Decode()
	} else {
		got.object, err = decode(body)
	}
	if err == nil && got.object.GetKind() == "" {
		err = errors.New("it has no kind")
	}
	if err != nil {
		return got, &deploy.UnavailableError{Ref: subject.ref, Err: fmt.Errorf("the answer isn't an object: %w", err)}
	}
	return got, nil
}

// decode returns the object in a JSON document.
func decode(document []byte) (*unstructured.Unstructured, error) {
	// The decoder of Unstructured would read everything twice, to distinguish lists from objects.
	var content map[string]any
	if err := json.Unmarshal(document, &content); err != nil {
		return nil, err
	}
	if content == nil {
		return nil, errors.New("it is null")
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// do sends request once, without retries, and waits for the response as long as ctx and the limit allow.
func (r *requests) do(ctx context.Context, request *rest.Request, subject failed) ([]byte, answer, error) {
	var got answer
	limited, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	// The caller handles warnings.
	result := request.MaxRetries(0).WarningHandlerWithContext(rest.NoWarnings{}).Do(limited).StatusCode(&got.code)
	for _, warning := range result.Warnings() {
		got.warnings = append(got.warnings, warning.Text)
	}
	err := result.Error()
	if err == nil {
		var body []byte
		if body, err = result.Raw(); err == nil {
			return body, got, nil
		}
	}
	if limited.Err() != nil && ctx.Err() == nil && !isAnswer(err) {
		// Don't return the error of limited: it would look as if the caller's context had ended.
		return nil, got, &deploy.UnavailableError{Ref: subject.ref, Err: fmt.Errorf(
			"no answer to %s of %s within %s; the API server may have carried out the request", subject.verb, subject.resource.Resource, r.limit)}
	}
	return nil, got, typed(ctx, err, subject)
}
