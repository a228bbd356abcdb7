package mailbox_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy/internal/mailbox"
	"github.com/stretchr/testify/assert"
)

func Example() {
	box := mailbox.New[string]()
	box.Put("first")
	box.Put("second")
	<-box.Filled()
	fmt.Println(box.Len(), box.Take(), box.Take())
	// Output: 2 [first second] []
}

// Each item is taken once, those of one giver in their order, and the last one isn't overslept.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	const givers, each = 8, 1000
	box := mailbox.New[[2]int]()
	var giving sync.WaitGroup
	for giver := range givers {
		giving.Go(func() {
			for n := range each {
				box.Put([2]int{giver, n})
			}
		})
	}
	var next [givers]int
	for taken := 0; taken < givers*each; {
		<-box.Filled()
		for _, item := range box.Take() {
			assert.Equal(t, next[item[0]], item[1])
			next[item[0]]++
			taken++
		}
	}
	giving.Wait()
	assert.Zero(t, box.Len())
}
