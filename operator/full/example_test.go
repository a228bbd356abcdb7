package full_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/operkit/operkit/operator/full"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Guestbook controls guestbooks.
type Guestbook struct{}

func (Guestbook) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Guestbook"}
}

func (Guestbook) Setup(context.Context, *reconcile.Session) error { return nil }

func ExampleNew() {
	op := full.New("guestbook-operator")
	op.Control(Guestbook{})
	// A program calls op.Main().
	var settings strings.Builder
	op.Execute(context.Background(), []string{"config"}, &settings, &settings)
	for line := range strings.Lines(settings.String()) {
		if fields := strings.Fields(line); fields[0] == "events.level" {
			fmt.Println(fields[0], fields[1])
		}
	}
	// Output: events.level normal
}
