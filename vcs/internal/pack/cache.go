package pack

import "github.com/go-git/go-git/v5/plumbing"

// place is the offset of an object in a pack.
type place struct {
	pack *Pack
	at   int64
}

// content is an unpacked object.
type content struct {
	kind plumbing.ObjectType
	text []byte
}

// overhead is the approximate number of bytes that a cached object needs besides its content.
const overhead = 128

// cache keeps the recently used objects, up to limit bytes. It has two generations: when the young generation exceeds
// half of limit, it becomes the old generation.
type cache struct {
	limit, size int
	young, old  map[place]content
}

func (c *cache) get(at place) (content, bool) {
	found, is := c.young[at]
	if is {
		return found, true
	}
	if found, is = c.old[at]; is {
		c.put(at, found)
	}
	return found, is
}

// put keeps an object, unless it would need more than an eighth of the cache.
func (c *cache) put(at place, one content) {
	size := len(one.text) + overhead
	if size > c.limit/8 {
		return
	}
	if c.size += size; c.size > c.limit/2 || c.young == nil {
		c.old, c.young, c.size = c.young, map[place]content{}, size
	}
	c.young[at] = one
}
