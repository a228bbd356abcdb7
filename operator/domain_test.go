package operator_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/stretchr/testify/assert"
)

func TestDomain(t *testing.T) {
	t.Parallel()
	// The finest thing that a dry run shows of a domain: one that can't be is refused.
	op := operator.New("widget-operator", operator.Manager(deploy.KeyDomain("Not A Domain")))
	op.Control(widget{})
	var out, log bytes.Buffer
	code := op.Execute(t.Context(), []string{"run", "--dry-run", "--cr", file(t, sample)}, &out, &log)
	assert.Equal(t, 1, code)
	assert.Contains(t, log.String(), "Not A Domain")
	assert.Equal(t, 1, strings.Count(log.String(), "widget-operator: "))
}

func TestFieldManager(t *testing.T) {
	t.Parallel()
	code, out := executed(t, []operator.Option{operator.Manager(deploy.FieldManager(""))}, "run", "--dry-run", "--cr", file(t, sample))
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "field manager: its name is empty")
}
