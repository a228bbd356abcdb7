package pack

import "github.com/go-git/go-git/v5/plumbing"

// place is where an object begins.
type place struct {
	pack *Pack
	at   int64
}

// content is an unpacked object.
type content struct {
	kind plumbing.ObjectType
	text []byte
}

// overhead is about how many bytes it takes to keep an object, besides its own.
const overhead = 128

// cache keeps the objects that were asked for last, up to limit bytes. It is two generations: when the young one is
// half of all, it becomes the old one.
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

// put keeps an object, unless that alone takes a good part of the cache.
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
