package operator_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// guest controls Guests: each has a room, and when it leaves a bill for it, a receipt after that, and no room.
type guest struct{}

func (guest) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Guest"}
}

func (guest) Setup(_ context.Context, s *reconcile.Session) error {
	var resource struct {
		Spec struct {
			Mistake bool `json:"mistake"`
		} `json:"spec"`
	}
	if err := s.Into(&resource); err != nil || resource.Spec.Mistake {
		return request.Configuration("spec.mistake: there is one")
	}
	s.Add("room", guestMap("room", "number 7"))
	return nil
}

func (guest) Finalize(ctx context.Context, s *reconcile.Session) error {
	of := "nothing"
	room, err := s.Get(ctx, deploy.Ref{Kind: configMaps, Namespace: s.Namespace(), Name: "room"})
	if err != nil {
		return err
	}
	if room != nil {
		of = room.Object["data"].(map[string]any)["text"].(string)
	}
	bill := s.Add("bill", guestMap("bill", "for "+of))
	s.Add("receipt", guestMap("receipt", "paid")).After(bill, reconcile.Ready)
	return s.Add("room", guestMap("room", "")).Remove(ctx)
}

func guestMap(name, text string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"text": text}}
}

func TestRenderDelete(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, resource string
		heads            []string
		text, log        string
	}{
		{
			"what Finalize rolls out, in its order, and nothing of what it removes", "kind: Guest\nmetadata: {name: g}",
			[]string{"bill: ConfigMap/bill", "receipt: ConfigMap/receipt"}, "text: for number 7", "",
		},
		{
			"also of one that can't be rolled out", "kind: Guest\nmetadata: {name: g}\nspec: {mistake: true}",
			[]string{"bill: ConfigMap/bill", "receipt: ConfigMap/receipt"}, "text: for nothing", "the resource can't be rolled out: its deletion is rendered anyway",
		},
		{"nothing of a kind without Finalize", "kind: Widget\nmetadata: {name: w}", nil, "", ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "r.yaml")
			require.NoError(t, os.WriteFile(file, []byte("apiVersion: example.com/v1\n"+row.resource+"\n"), 0o600))
			op := operator.New("inn")
			op.Control(guest{})
			op.Control(widget{})
			var out, log bytes.Buffer
			require.Zero(t, op.Execute(t.Context(), []string{"render", "--delete", "-f", file}, &out, &log), log.String())
			assert.Equal(t, row.heads, heads(out.String()))
			assert.Contains(t, out.String(), row.text)
			assert.Contains(t, log.String(), row.log)
		})
	}
}
