package celready

import (
	"testing"
	"time"

	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// noTime is the time of a Checker that has none.
var noTime time.Time

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// read makes an object of YAML, with the numbers that clients make: int64 and float64.
func read(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	require.NoError(t, object.UnmarshalJSON(data), text)
	return object
}

func compiled(t testing.TB, expressions Expressions, opts ...Option) *Rule {
	t.Helper()
	rule, err := Compile(expressions, opts...)
	require.NoError(t, err)
	return rule
}

// judged is what the expression ready says of an object.
func judged(t testing.TB, ready string, object *unstructured.Unstructured) readiness.Result {
	t.Helper()
	return compiled(t, Expressions{Ready: ready}).Result(noTime, object.Object)
}
