package reconciletest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/conversion"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// KindConverter is a *conversion.Converter for any hub.
type KindConverter interface {
	// Kind returns the group and kind of the objects.
	Kind() schema.GroupKind
	// Check returns the mistakes of the registration.
	Check() error
	// Versions returns the versions, the hub first.
	Versions() []conversion.Version
	// Path returns the path of the webhook.
	Path() string
	// Handler returns what answers reviews.
	Handler(logger *slog.Logger) http.Handler
}

// Conversion converts the objects of kinds between their versions, as an API server with a conversion webhook would:
// each object is stored in one version, and can be read, listed, watched, applied and edited in all versions. The
// version that is stored is the one that the definition says (option Definitions), and the hub without a definition.
// The converter's own Handler gets the reviews in JSON. Whoever reads or writes an object that can't be converted gets
// the error of an API server; events about it are left out. Several options add up.
func Conversion(converters ...KindConverter) Option {
	return func(o *options) { o.converters = append(o.converters, converters...) }
}

// conversions returns the conversions for the cluster in memory.
func (h *Harness) conversions() (conversions []dryrun.Conversion, err error) {
	var errs []error
	known := map[schema.GroupKind]bool{}
	for _, converter := range h.options.converters {
		if converter == nil {
			errs = append(errs, errors.New("option Conversion: nil converter"))
			continue
		}
		if known[converter.Kind()] {
			errs = append(errs, fmt.Errorf("option Conversion: there are two converters of %s: pass one", converter.Kind()))
		}
		known[converter.Kind()] = true
		errs = append(errs, converter.Check())
		one := dryrun.Conversion{Kind: converter.Kind()}
		for _, version := range converter.Versions() {
			one.Versions = append(one.Versions, version.Kind.Version)
		}
		one.Storage = one.Versions[0]
		handler, path, ctx := converter.Handler(h.logger()), converter.Path(), h.t.Context()
		one.Convert = func(object *unstructured.Unstructured, version string) (*unstructured.Unstructured, error) {
			return convert(ctx, handler, path, object, schema.GroupVersion{Group: one.Kind.Group, Version: version})
		}
		conversions = append(conversions, one)
	}
	return conversions, errors.Join(errs...)
}

// convert asks a handler for an object in another version.
func convert(ctx context.Context, handler http.Handler, path string, object *unstructured.Unstructured, version schema.GroupVersion) (*unstructured.Unstructured, error) {
	const uid = "c04e5104-0000-4000-8000-000000000001"
	body, err := json.Marshal(map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": map[string]any{
		"uid": uid, "desiredAPIVersion": version.String(), "objects": []any{object.Object},
	}})
	if err != nil {
		return nil, err
	}
	var review struct {
		Response struct {
			UID              string                       `json:"uid"`
			ConvertedObjects []*unstructured.Unstructured `json:"convertedObjects"`
			Result           struct{ Status, Message string }
		} `json:"response"`
	}
	// The test may have ended: what is read while it is cleaned up is converted, too.
	if err := post(context.WithoutCancel(ctx), handler, path+"?timeout=30s", body, &review); err != nil {
		return nil, err
	}
	switch answer := review.Response; {
	case answer.Result.Status != "Success":
		return nil, errors.New(answer.Result.Message)
	case answer.UID != uid || len(answer.ConvertedObjects) != 1:
		return nil, errors.New("the answer isn't one to this request")
	}
	return review.Response.ConvertedObjects[0], nil
}
