package pause_test

import (
	"fmt"
	"time"

	"github.com/operkit/operkit/reconcile/pause"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var night = time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)

func ExampleOf() {
	shop := &metav1.ObjectMeta{Annotations: map[string]string{"operkit.dev/pause-execution": "2030-01-02T03:05:00Z"}}
	p := pause.Of(shop, "", night)
	fmt.Println(p.Paused, p.Left(night))
	p = pause.Of(shop, "", night.Add(time.Hour))
	fmt.Println(p.Paused)
	// Output:
	// true 5m0s
	// false
}

func ExampleAnnotation() {
	fmt.Println(pause.Annotation("example.dev"))
	// Output: example.dev/pause-execution
}

func ExampleWithoutEnd() {
	fmt.Println(pause.WithoutEnd("True"), pause.WithoutEnd("2030-01-02T03:05:00Z"))
	// Output: true false
}
