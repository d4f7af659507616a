/** The address of the service, which is that of the page and may include a path. */
export const SERVICE = location.origin + location.pathname.replace(/\/[^/]*$/, '')
