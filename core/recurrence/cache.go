package recurrence

import "sync"

// maxKept bounds the approximate bytes of cached expressions: more than 7,000 of the usual length. When it is reached, all
// of them are dropped.
const maxKept = 4 << 20

// Cache keeps loaded zones and parsed expressions. The number of zones is bounded by the names in the database. It is safe
// for concurrent use. The zero value is ready; a nil Cache keeps nothing.
type Cache struct {
	zones sync.Map

	mu     sync.Mutex
	texts  map[string]expression // by their text; invalid ones are not kept
	kept   int                   // approximate bytes of texts
	parsed int                   // how often a text was parsed
}

// parse calls parseExpression once for each text.
func (c *Cache) parse(text string) (expression, error) {
	if c == nil {
		return parseExpression(text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.texts[text]; ok {
		return e, nil
	}
	c.parsed++
	e, err := parseExpression(text)
	if err != nil {
		return e, err
	}
	if c.kept += 512 + 2*len(text); c.texts == nil || c.kept > maxKept {
		c.texts, c.kept = map[string]expression{}, 512+2*len(text)
	}
	c.texts[text] = e
	return e, nil
}
