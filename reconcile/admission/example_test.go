package admission_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/operkit/operkit/reconcile/admission"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Shop is a kind of one's own.
type Shop struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Size   int    `json:"size,omitempty"`
		Colour string `json:"colour,omitempty"`
	} `json:"spec"`
}

var shops = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Shop"}

// send sends a request to webhooks, as the API server does.
func send(webhooks []*admission.Webhook, request string) {
	for _, webhook := range webhooks {
		from := httptest.NewRequest(http.MethodPost, webhook.Path(), strings.NewReader(
			`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","kind":{"group":"example.com","version":"v1","kind":"Shop"},`+request+`}}`))
		answer := httptest.NewRecorder()
		webhook.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(answer, from)
		var review struct {
			Response struct {
				Allowed  bool
				Patch    []byte
				Warnings []string
				Status   metav1.Status
			}
		}
		if err := json.NewDecoder(bytes.NewReader(answer.Body.Bytes())).Decode(&review); err != nil {
			fmt.Println(answer.Code, answer.Body)
			return
		}
		r := review.Response
		fmt.Println(strings.TrimSpace(fmt.Sprint(webhook.Name(), " ", r.Allowed, " ", string(r.Patch), r.Warnings, " ", r.Status.Message)))
	}
}

// A mutator gives shops a colour, and a validator refuses shops that shrink.
func Example() {
	hooks := admission.New[Shop](shops)
	hooks.Mutate("colour", func(_ context.Context, r *admission.Request[Shop]) error {
		r.Object.Spec.Colour = cmp.Or(r.Object.Spec.Colour, "green")
		return nil
	})
	hooks.Validate("size", func(_ context.Context, r *admission.Request[Shop]) error {
		if r.Old != nil && r.Object.Spec.Size < r.Old.Spec.Size {
			return field.Forbidden(field.NewPath("spec", "size"), "a shop can't shrink")
		}
		return nil
	})
	webhooks, err := hooks.Webhooks()
	if err != nil {
		fmt.Println(err)
		return
	}
	send(webhooks, `"operation":"UPDATE","name":"tea",
		"object":{"apiVersion":"example.com/v1","kind":"Shop","metadata":{"name":"tea"},"spec":{"size":1}},
		"oldObject":{"apiVersion":"example.com/v1","kind":"Shop","metadata":{"name":"tea"},"spec":{"size":3}}`)
	// Output:
	// mutate.shop.example.com true [{"op":"add","path":"/spec/colour","value":"green"}][]
	// validate.shop.example.com false [] Shop.example.com "tea" is invalid: spec.size: Forbidden: a shop can't shrink
}

// What is deleted, and by whom. An operator that is down doesn't keep anybody from deleting.
func ExampleHooks_Validate() {
	hooks := admission.New[Shop](shops, admission.Named("deletions"), admission.IgnoreFailures(), admission.Within(3*time.Second))
	hooks.Validate("open", func(_ context.Context, r *admission.Request[Shop]) error {
		if r.User.Username == "system:admin" {
			r.Warn("%s is open", r.Ref.Name)
			return nil
		}
		r.Logger().Info("a shop isn't deleted", "dry", r.DryRun, "operation", r.Operation, "options", r.Options())
		return admission.Deny("%s is open, with %v", r.Ref.Name, r.OldContent()["spec"])
	}, admission.On(admission.Delete))
	webhooks, err := hooks.Webhooks()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, user := range []string{"joe", "system:admin"} {
		send(webhooks, `"operation":"DELETE","name":"tea","userInfo":{"username":"`+user+`"},
			"oldObject":{"apiVersion":"example.com/v1","kind":"Shop","metadata":{"name":"tea"},"spec":{"size":3}}`)
	}
	// Output:
	// validate.shop-deletions.example.com false [] tea is open, with map[size:3]
	// validate.shop-deletions.example.com true [tea is open]
}

// The objects by which the API server knows the webhooks. It decides by labels and conditions which requests it asks
// about.
func ExampleConfigurations() {
	hooks := admission.New[Shop](shops, admission.SideEffects(), admission.Reinvoke(),
		admission.Objects(metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}),
		admission.Namespaces(metav1.LabelSelector{MatchLabels: map[string]string{"shops": "true"}}),
		admission.If("sized", "has(object.spec.size)"))
	hooks.Mutate("status", func(_ context.Context, r *admission.Request[Shop]) error {
		fmt.Println(r.Content())
		return nil
	}, admission.On(admission.Update), admission.Subresources("status"))
	webhooks, err := hooks.Webhooks()
	if err != nil {
		fmt.Println(err)
		return
	}
	target := admission.Target{URL: "https://192.168.0.7:9443"}
	_, mutating := admission.Configurations("shop-operator", target, func(schema.GroupVersionKind) string { return "shops" }, webhooks...)
	entry := mutating.Webhooks[0]
	fmt.Println(webhooks[0].Kind() == hooks.Kind(), webhooks[0].Mutating(), *entry.ClientConfig.URL, entry.Rules[0].Operations, entry.Rules[0].Resources)
	// Output:
	// true true https://192.168.0.7:9443/mutate.shop.example.com [UPDATE] [shops/status]
}
