package tlssecret_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/reconcile/tlssecret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReplicas(t *testing.T) {
	inBubble(t, "serving 1: replicas that start at once have one CA and one certificate", func(t *testing.T) {
		memory := newMemory(t)
		var all []*replica
		for range 5 {
			all = append(all, start(t, memory))
		}
		synctest.Wait()
		works(t, all...)
		for _, r := range all {
			assert.Equal(t, 1, r.changed)
			assert.Empty(t, r.log.Count("level=WARN"), r.log.String())
		}
		obj := read(t, memory)
		assert.Equal(t, "kubernetes.io/tls", obj.Object["type"])
		assert.ElementsMatch(t, []string{"tls.crt", "tls.key", "ca.crt", "issuer.crt", "issuer.key"}, keysOf(obj.Object["data"]))
	})
	inBubble(t, "serving 2: settled, replicas send nothing, also after a restart", func(t *testing.T) {
		memory := newMemory(t)
		first, second := start(t, memory), start(t, memory)
		synctest.Wait()
		first.taken()
		second.taken()
		time.Sleep(200 * day)
		assert.Empty(t, first.taken())
		assert.Empty(t, second.taken())
		third := start(t, memory)
		time.Sleep(day)
		works(t, first, second, third)
		assert.Equal(t, []string{"get"}, third.taken(), "the first read")
		assert.Empty(t, first.taken())
	})
	inBubble(t, "serving 3: a certificate is renewed when two thirds of its life have passed, mostly by one replica", func(t *testing.T) {
		memory := newMemory(t)
		first, second, third := start(t, memory), start(t, memory), start(t, memory)
		synctest.Wait()
		before, ca := first.serial(t), first.CA()
		time.Sleep(243 * day)
		assert.Equal(t, before, first.serial(t))
		time.Sleep(day)
		works(t, first, second, third)
		assert.NotEqual(t, before, first.serial(t))
		assert.Equal(t, ca, first.CA(), "the CA stays")
		assert.WithinDuration(t, time.Now().Add(year), first.Expires(), 2*day)
		assert.Equal(t, 1, first.log.Count("was written")+second.log.Count("was written")+third.log.Count("was written")-1)
	})
	inBubble(t, "serving 4: the CA is replaced when two thirds of its life have passed, and dropped when nobody serves a certificate of it", func(t *testing.T) {
		memory := newMemory(t)
		first := start(t, memory)
		second := start(t, memory)
		synctest.Wait()
		old := first.CA()
		time.Sleep(10*year/3*2 + day)
		works(t, first, second)
		assert.NotEqual(t, old, first.CA())
		require.NoError(t, accepts(old, first.chain(t), host, time.Now()), "by the certificate of the new CA that the old one has signed")
		assert.Contains(t, string(first.CA()), string(old))
		time.Sleep(year + day)
		works(t, first, second)
		assert.NotContains(t, string(first.CA()), string(old))
		assert.Equal(t, 3, first.changed)
	})
	inBubble(t, "serving 5: the annotation renew replaces the CA, once for each value, and not before the time Wait has passed", func(t *testing.T) {
		memory := newMemory(t)
		first, second := start(t, memory), start(t, memory)
		time.Sleep(2 * time.Hour)
		published := [][]byte{first.CA()}
		annotate(t, memory, "renew", "one")
		synctest.Wait()
		works(t, first, second)
		one := first.CA()
		assert.NotEqual(t, published[0], one)
		annotate(t, memory, "renew", "two")
		time.Sleep(59 * time.Minute)
		assert.Equal(t, one, first.CA())
		for _, bundle := range append(published, one) {
			require.NoError(t, accepts(bundle, second.chain(t), host, time.Now()))
		}
		time.Sleep(10 * time.Minute)
		works(t, first, second)
		assert.NotEqual(t, one, first.CA())
		require.NoError(t, accepts(one, second.chain(t), host, time.Now()))
		first.taken()
		second.taken()
		time.Sleep(day)
		assert.Empty(t, first.taken())
		assert.Empty(t, second.taken())
	})
}

func TestNames(t *testing.T) {
	inBubble(t, "serving 6: names of all processes are joined until the next renewal", func(t *testing.T) {
		memory := newMemory(t)
		before := start(t, memory, names(host))
		synctest.Wait()
		after := start(t, memory, names(host, "hooks.new.svc", "10.0.0.1"))
		synctest.Wait()
		works(t, before, after)
		for _, name := range []string{host, "hooks.new.svc", "10.0.0.1"} {
			require.NoError(t, before.chain(t)[0].VerifyHostname(name))
		}
		before.taken()
		after.taken()
		time.Sleep(day)
		assert.Empty(t, before.taken(), "they don't fight")
		assert.Empty(t, after.taken())
		after.stop()
		time.Sleep(day)
		back := start(t, memory, names(host))
		synctest.Wait()
		works(t, before, back)
		require.NoError(t, before.chain(t)[0].VerifyHostname("hooks.new.svc"))
		time.Sleep(250 * day)
		works(t, before, back)
		require.Error(t, before.chain(t)[0].VerifyHostname("hooks.new.svc"), "nobody has asked for it since the certificate was issued")
	})
	inBubble(t, "serving 7: processes with different names serve certificates with their own names at a renewal, too", func(t *testing.T) {
		memory := newMemory(t)
		one := start(t, memory, names(host, "one.svc"))
		two := start(t, memory, names(host, "two.svc"))
		synctest.Wait()
		one.taken()
		two.taken()
		for range 400 {
			time.Sleep(day)
			synctest.Wait()
			works(t, one, two)
			require.NoError(t, one.chain(t)[0].VerifyHostname("one.svc"))
			require.NoError(t, two.chain(t)[0].VerifyHostname("two.svc"))
		}
		assert.LessOrEqual(t, len(one.taken())+len(two.taken()), 6, "one renews, the other adds its name")
	})
}

func TestConfig(t *testing.T) {
	t.Run("serving 20: all that is wrong with a Config is one error", func(t *testing.T) {
		_, err := tlssecret.New(newMemory(t), tlssecret.Config{Secret: "Hooks", Names: []string{"a_b..c"}, Life: tlssecret.Life{CA: time.Hour, Leaf: time.Minute, Wait: -1}})
		require.Error(t, err)
		for _, part := range []string{`namespace ""`, `Secret "Hooks"`, `"a_b..c"`, "life of certificates: 1m0s", "wait: -1ns"} {
			assert.Contains(t, err.Error(), part)
		}
		_, err = tlssecret.New(newMemory(t), tlssecret.Config{Namespace: "shop", Secret: "hooks", Names: []string{host}, Life: tlssecret.Life{CA: year}})
		require.ErrorContains(t, err, "life of a CA: 8760h0m0s: at least")
		_, err = tlssecret.New(newMemory(t), tlssecret.Config{Namespace: "shop", Secret: "hooks"})
		require.ErrorContains(t, err, "0 names: 1 to 100 are needed")
	})
}

func keysOf(data any) (keys []string) {
	content, _ := data.(map[string]any)
	for key := range content {
		keys = append(keys, key)
	}
	return keys
}
