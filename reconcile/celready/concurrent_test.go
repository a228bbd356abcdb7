package celready

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Operators read the expressions of their kinds from files, when they like: many at once, right ones and wrong ones.
func TestCompileAtOnce(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			_, err := Compile(Expressions{Ready: "object.items.all(i, i.done)"})
			assert.NoError(t, err)
		})
		all.Go(func() {
			_, err := Compile(Expressions{Ready: "object.items.all(i, i.done && nothing)"})
			assert.ErrorContains(t, err, "undeclared reference to 'nothing'")
		})
	}
	all.Wait()
}
