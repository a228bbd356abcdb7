package conversion_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/operkit/operkit/reconcile/conversion"
)

// Two versions with a renamed field. What the older one can't hold is kept in an annotation, and returns.
func Example() {
	converter := conversion.New[shopV2](v2)
	converter.KeyDomain("example.com")
	conversion.Add(converter, v3, conversion.Functions[shopV3, shopV2]{
		Up:   func(from *shopV3, to *shopV2) error { to.Spec.Replicas = from.Spec.N; return nil },
		Down: func(from *shopV2, to *shopV3) error { to.Spec.N = from.Spec.Replicas; return nil },
	})
	if err := converter.Check(); err != nil {
		fmt.Println(err)
		return
	}
	old, err := converter.Convert(shop(v2, object{"replicas": int64(3), "metres": int64(20)}, nil), "v3")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(old.Object["spec"], old.GetAnnotations()["example.com/kept-v2"])
	back, err := converter.Convert(old, "v2")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(back.Object["spec"], back.GetAnnotations())
	// Output:
	// map[n:3] {"was":{"spec":{"metres":null}},"is":{"spec":{"metres":20}}}
	// map[metres:20 replicas:3] map[who:joe]
}

// The API server asks by HTTP.
func ExampleConverter_Handler() {
	converter := conversion.New[shopV2](v2)
	conversion.Add(converter, v1, conversion.Functions[shopV1, shopV2]{Up: upFromV1, Down: downToV1})
	answer := httptest.NewRecorder()
	converter.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, converter.Path(), strings.NewReader(`
		{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"1","desiredAPIVersion":"example.com/v2",
		"objects":[{"apiVersion":"example.com/v1","kind":"Shop","metadata":{"name":"tea"},"spec":{"count":3}}]}}`)))
	fmt.Println(converter.Kind(), converter.Path(), answer.Body)
	// Output:
	// Shop.example.com /convert.Shop.example.com {"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"1","convertedObjects":[{"apiVersion":"example.com/v2","kind":"Shop","metadata":{"name":"tea"},"spec":{"replicas":3}}],"result":{"metadata":{},"status":"Success"}}}
}

// Tools call the functions alone.
func ExampleConverter_Versions() {
	converter := conversion.New[shopV2](v2)
	conversion.Add(converter, v1, conversion.Functions[shopV1, shopV2]{Up: upFromV1, Down: downToV1})
	var versions []conversion.Version = converter.Versions()
	old, current := &shopV1{}, &shopV2{}
	old.Spec.Count = 3
	fmt.Println(versions[1].Up(old, current), current.Spec.Replicas, versions[0].Kind.Version)
	// Output: <nil> 3 v2
}
