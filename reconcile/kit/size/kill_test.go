package size_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The operator takes the number back in one write and sets it in another one.
func TestKilledAtEachWrite(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]struct {
		fields fields
		after  int64
	}{
		"an override of 0":           {fields{"overrides": fields{"web": fields{"replicas": int64(0)}}}, 0},
		"an autoscaler that is gone": {fields{"scaled": nil}, 3},
	} {
		for _, arrives := range []bool{false, true} {
			for nth := 1; nth <= 4; nth++ {
				t.Run(fmt.Sprintf("size 18: %s: a kill at write %d, which arrives: %t", name, nth, arrives), func(t *testing.T) {
					t.Parallel()
					h := harness(t, store, sized(t))
					h.Apply(shop(fields{"size": "large", "scaled": true}))
					h.RunUntilSettled()
					scale(t, h, 6)
					h.RunUntilSettled()
					edit(t, h, change.fields)
					h.Kill(nth, arrives)
					h.RunUntilSettled()
					if h.Killed() {
						h.Restart()
						h.RunUntilSettled()
					}
					assert.Equal(t, change.after, replicas(h, "Deployment web"))
					h.RunUntilSettled()
					h.Writes(0)
				})
			}
		}
	}
}
