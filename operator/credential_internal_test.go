package operator

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestPoll(t *testing.T) {
	t.Parallel()
	t.Run("webhooks 12: CAs in a file that have changed are told, and those that can't be read aren't", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			text, failing, told := "a", false, atomic.Int64{}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				poll(func() ([]byte, error) {
					if failing {
						return nil, errors.New("no such file")
					}
					return []byte(text), nil
				})(ctx, func() { told.Add(1) })
			}()
			for _, row := range []struct {
				reason  string
				text    string
				failing bool
				told    int64
			}{
				{"the first time, and nothing has changed", "a", false, 1},
				{"other CAs", "b", false, 2},
				{"no file", "b", true, 2},
				{"the same again", "b", false, 2},
				{"other CAs again", "a", false, 3},
			} {
				text, failing = row.text, row.failing
				time.Sleep(looking)
				synctest.Wait()
				assert.Equal(t, row.told, told.Load(), row.reason)
			}
			cancel()
			<-ended
		})
	})
}
